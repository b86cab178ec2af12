/// What becomes of the credit-based channels that the attribute layer has: Enhanced ATT bearers.
///
/// Core 6.0, Vol 3, Part G, 5.3.
enum BearerEvent: Equatable {
    /// One of the ends asked for a channel, and it is open.
    case opened(OpenedChannel)
    /// A channel that this end asked for is not opened.
    case refused(Failure)
    /// The largest packet that both ends take is another, in octets: the peer takes more than it did.
    case mtuChanged(ChannelID, Int)
    /// Something happened to a channel that is open.
    case channel(ChannelID, ChannelEvent)
}
