package import BLEWire

/// The identifier of a credit-based channel, never reused by this host.
package struct ChannelID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// An open credit-based channel.
///
/// Core 6.0, Vol 3, Part A, 10.1.
package struct OpenedChannel: Equatable, Sendable {
    package var id: ChannelID
    /// The PSM of the service.
    package var psm: SPSM
    /// The maximum length of an SDU for ``ChannelRequest/send(_:)``, in octets: the peer's MTU.
    package var outgoingMTU: Int
    /// The maximum length of an SDU in ``ChannelEvent/received(_:)``, in octets.
    package var incomingMTU: Int

    package init(id: ChannelID, psm: SPSM, outgoingMTU: Int, incomingMTU: Int) {
        self.id = id
        self.psm = psm
        self.outgoingMTU = outgoingMTU
        self.incomingMTU = incomingMTU
    }
}

/// A client's request about one of its open channels.
///
/// A request about a closed channel, or one of another client, has no effect: ``ChannelEvent/closed(_:)`` was or will
/// be its last event.
package enum ChannelRequest: Equatable, Sendable {
    /// Sends one SDU of 1 to ``OpenedChannel/outgoingMTU`` octets. ``ChannelEvent/sent(_:)`` reports when it has left.
    ///
    /// The client decides how much it queues, up to ``Limits/queuedChannelOctets``, where the channel is closed.
    case send([UInt8])
    /// The client has processed that many received octets, so the peer may send as many more.
    case consumed(Int)
    /// Lets the peer send SDUs and K-frames of up to these sizes, in octets: 64 to 65535 and 65533. Only for channels
    /// that were opened in a group. ``ChannelEvent/resized(_:)`` reports the result.
    ///
    /// The MTU must not decrease.
    case resize(mtu: Int, mps: Int)
    /// Sends the queued data, as far as the peer accepts them within some seconds, and closes the channel.
    case close
}

/// An event of an open channel.
package enum ChannelEvent: Equatable, Sendable {
    /// The peer sent an SDU of 1 to ``OpenedChannel/incomingMTU`` octets.
    ///
    /// The peer gets no more credits when too many octets are not ``ChannelRequest/consumed(_:)``.
    case received([UInt8])
    /// That many more octets were passed to the controller.
    case sent(Int)
    /// The peer has accepted the new sizes, or they are unchanged.
    case resized(Failure?)
    /// The last event of a channel: it is closed, with `nil` if one of its ends closed it.
    case closed(Failure?)
}
