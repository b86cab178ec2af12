/// An event on an Enhanced ATT bearer, a channel that the attribute layer owns.
enum BearerEvent: Equatable {
    /// A channel was opened, at the request of this host or of the peer.
    case opened(OpenedChannel)
    /// A channel that this host requested was refused.
    case refused(Failure)
    /// The MTU of a bearer has changed to this number of octets, because the peer has increased its MTU.
    case mtuChanged(ChannelID, Int)
    /// An event on an open channel.
    case channel(ChannelID, ChannelEvent)
}
