/// Which of the bearers of a link: its two ends may ask, answer, notify and indicate on each of them.
///
/// Core 6.0, Vol 3, Part F, 3.2.11; Part G, 5.3.
package enum BearerID: Hashable, Sendable {
    /// The one that every link has, on channel 0x0004.
    case unenhanced
    /// One on a credit-based channel, on an encrypted link.
    case enhanced(ChannelID)
}

/// What the attribute layer wants done with the channels that are its bearers.
package enum BearerRequest: Equatable, Sendable {
    /// Ask the peer to open so many, 1 to 5.
    case open(Int)
    case channel(ChannelID, ChannelRequest)
}
