/// An event of the attribute layer's channels: Enhanced ATT bearers.
///
/// Core 6.0, Vol 3, Part G, 5.3.
enum BearerEvent: Equatable {
    /// A channel was opened at the request of either end.
    case opened(OpenedChannel)
    /// A channel that this end requested was refused.
    case refused(Failure)
    /// The MTU of a bearer has changed, in octets, because the peer's increased.
    case mtuChanged(ChannelID, Int)
    /// An event of an open channel.
    case channel(ChannelID, ChannelEvent)
}
