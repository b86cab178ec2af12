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
    /// The PSM with which the channel was opened.
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
/// A request about a closed channel, or about another client's channel, has no effect. The last event of each channel
/// is ``ChannelEvent/closed(_:)``.
package enum ChannelRequest: Equatable, Sendable {
    /// Sends one SDU of 1 to ``OpenedChannel/outgoingMTU`` octets. ``ChannelEvent/sent(_:)`` reports when the SDU has
    /// left the host.
    ///
    /// A client that queues more than ``Limits/queuedChannelOctets`` loses the channel.
    case send([UInt8])
    /// Reports that the client has processed this many received octets, so the peer may send the same number again.
    case consumed(Int)
    /// Changes the maximum lengths of the SDUs and K-frames that the peer may send: `mtu` is 64 to 65535 octets, `mps`
    /// 64 to 65533. Fails for a channel that does not use Enhanced Credit Based Flow Control Mode.
    /// ``ChannelEvent/resized(_:)`` reports the result.
    ///
    /// The MTU must not decrease.
    case resize(mtu: Int, mps: Int)
    /// Sends the queued data that the peer accepts within a few seconds, then closes the channel.
    case close
}

/// An event on an open channel.
package enum ChannelEvent: Equatable, Sendable {
    /// The peer sent an SDU of 1 to ``OpenedChannel/incomingMTU`` octets.
    ///
    /// While the client has too much data that it has not reported with ``ChannelRequest/consumed(_:)``, the host gives
    /// the peer no more credits.
    case received([UInt8])
    /// The host has passed this many more octets to the controller.
    case sent(Int)
    /// The result of ``ChannelRequest/resize(mtu:mps:)``: `nil` if the peer has accepted the new sizes. After a
    /// failure, the sizes are unchanged.
    case resized(Failure?)
    /// The channel is closed; the failure is `nil` if the client or the peer closed it. This is the last event of a
    /// channel.
    case closed(Failure?)
}
