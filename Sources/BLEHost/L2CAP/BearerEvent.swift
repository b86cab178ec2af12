/// An event of an Enhanced ATT bearer, which is a channel of the attribute layer.
enum BearerEvent: Equatable {
    /// A channel was opened, at the request of this host or of the peer.
    case opened(OpenedChannel)
    /// A channel that this host requested was refused.
    case refused(Failure)
    /// The MTU of a bearer has changed, in octets, because the peer has increased its own.
    case mtuChanged(ChannelID, Int)
    /// An event of an open channel.
    case channel(ChannelID, ChannelEvent)
}
