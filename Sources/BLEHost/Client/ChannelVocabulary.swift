package import BLEWire

/// One credit-based channel, by a number that no other channel of this host has had or will have.
package struct ChannelID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A credit-based channel that is ready for use in both directions.
///
/// Core 6.0, Vol 3, Part A, 10.1.
package struct OpenedChannel: Equatable, Sendable {
    package var id: ChannelID
    /// What the channel was opened for.
    package var psm: SPSM
    /// The most octets that one ``ChannelRequest/send(_:)`` may have: what the peer takes at once.
    package var outgoingMTU: Int
    /// The most octets that one ``ChannelEvent/received(_:)`` has.
    package var incomingMTU: Int

    package init(id: ChannelID, psm: SPSM, outgoingMTU: Int, incomingMTU: Int) {
        self.id = id
        self.psm = psm
        self.outgoingMTU = outgoingMTU
        self.incomingMTU = incomingMTU
    }
}

/// What a client asks of a channel that is open.
///
/// What is asked of a channel that is closed, or of somebody else's, comes to nothing: ``ChannelEvent/closed(_:)`` was
/// or will be the last that is heard of it.
package enum ChannelRequest: Equatable, Sendable {
    /// Sends one SDU of 1 to ``OpenedChannel/outgoingMTU`` octets; ``ChannelEvent/sent(_:)`` says when it has left.
    ///
    /// How much waits is up to the client, within ``Limits/queuedChannelOctets``, where the channel is closed.
    case send([UInt8])
    /// The client has no more use for that many octets that it received, so that the peer may send as many again.
    case consumed(Int)
    /// Lets the peer send SDUs and K-frames of up to these sizes, in octets, 64 to 65535 and 65533, where channels were
    /// opened as several; ``ChannelEvent/resized(_:)`` says what came of it.
    ///
    /// SDUs may never become smaller.
    case resize(mtu: Int, mps: Int)
    /// Sends what waits, as far as the peer takes it within some seconds, and closes the channel.
    case close
}

/// What becomes of a channel that is open.
package enum ChannelEvent: Equatable, Sendable {
    /// The peer sent one SDU, of 1 to ``OpenedChannel/incomingMTU`` octets.
    ///
    /// The peer is stopped when too much of it is not ``ChannelRequest/consumed(_:)``.
    case received([UInt8])
    /// That many octets more have been handed to the controller.
    case sent(Int)
    /// The peer has agreed to other sizes, or they are as they were.
    case resized(Failure?)
    /// The channel is closed, and nothing else will be heard of it: `nil` if one of its ends wanted it so.
    case closed(Failure?)
}
