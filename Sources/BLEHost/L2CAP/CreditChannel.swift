import BLEWire

/// This host's end of a credit-based channel, from its opening until both devices know that it is closed.
///
///                close                    all sent, or timeout
///        ┌──────┐ ────▶ ┌──────────┐ ─────────────────────────▶ ┌─────────┐ ── response, timeout ▶ gone
///        │ open │       │ draining │                            │ closing │
///        └──────┘ ───── broken, abandoned ────────────────────▶ └─────────┘
///
/// When the owner closes the channel, the owner immediately gets the event that the channel is closed; data that the
/// peer sends later are dropped.
///
/// Core 6.0, Vol 3, Part A, 4.6, 4.7 and 10.
struct CreditChannel {
    /// The procedure that opened a channel, which determines whether its sizes can change.
    enum Kind: Equatable { case single, enhanced }

    /// The owner of a channel.
    enum Owner: Equatable {
        case client(ClientID)
        /// The attribute layer, for an Enhanced ATT bearer.
        case attributes
        /// No owner, because the channel's owner has closed it or is gone.
        case noOwner
    }

    private enum State {
        case open
        /// The owner has closed the channel. The queued data are still sent, until `due`, if the peer accepts them.
        case draining(due: Instant)
        /// This host has asked the peer to close the channel.
        case closing
    }

    /// The time limit for sending the queued data after the owner has closed the channel.
    static let drainTimeout = Duration.seconds(5)

    let id: ChannelID
    let kind: Kind
    let spsm: SPSM
    /// The local channel identifier.
    let local: ChannelIdentifier
    /// The peer's channel identifier.
    let remote: ChannelIdentifier
    private(set) var owner: Owner
    var incoming: IncomingFlow
    var outgoing: OutgoingFlow
    private var state = State.open

    init(
        id: ChannelID,
        kind: Kind,
        spsm: SPSM,
        local: ChannelIdentifier,
        remote: ChannelIdentifier,
        owner: Owner,
        incoming: IncomingFlow,
        outgoing: OutgoingFlow
    ) {
        self.id = id
        self.kind = kind
        self.spsm = spsm
        self.local = local
        self.remote = remote
        self.owner = owner
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// The description that the channel's owner receives when the channel has been opened.
    var opened: OpenedChannel {
        OpenedChannel(id: id, psm: spsm, outgoingMTU: outgoing.mtu, incomingMTU: incoming.mtu)
    }

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// True if this host has asked the peer to close the channel, and waits for the response.
    var isClosing: Bool {
        if case .closing = state { true } else { false }
    }

    /// The time at which to call ``expire(at:)`` unless something happens first.
    var deadline: Instant? {
        if case .draining(let due) = state { due } else { nil }
    }

    /// The consequence of a packet from the peer.
    enum OnReceive: Equatable {
        case nothing
        case deliver([UInt8])
        /// The peer violated the protocol.
        case close(ChannelFault)
    }

    /// Processes the payload of a packet.
    mutating func receive(_ packet: Span<UInt8>) -> OnReceive {
        switch state {
        case .closing: return .nothing
        case .open:
            switch incoming.receive(packet) {
            case .incomplete: return .nothing
            case .complete(let sdu): return .deliver(sdu)
            case .broken(let fault): return .close(fault)
            }
        case .draining:
            switch incoming.receive(packet) {
            case .incomplete: return .nothing
            case .complete(let sdu):
                incoming.consume(sdu.count)
                return .nothing
            case .broken(let fault): return .close(fault)
            }
        }
    }

    /// The action that the caller must take after a change of the channel's state.
    enum OnClose: Equatable {
        case nothing
        /// Ask the peer to close the channel.
        case disconnect
    }

    /// Closes the channel at its owner's request, if possible after the queued data have been sent.
    mutating func close(at now: Instant) -> OnClose {
        guard case .open = state else { return .nothing }
        owner = .noOwner
        if outgoing.isEmpty {
            state = .closing
            return .disconnect
        }
        state = .draining(due: now + Self.drainTimeout)
        return .nothing
    }

    /// Closes a draining channel if its queued data have been sent.
    mutating func drained() -> OnClose {
        guard case .draining = state, outgoing.isEmpty else { return .nothing }
        state = .closing
        return .disconnect
    }

    /// Closes the channel immediately, regardless of queued data.
    mutating func abandon() -> OnClose {
        owner = .noOwner
        guard !isClosing else { return .nothing }
        state = .closing
        return .disconnect
    }

    /// Closes a draining channel if the peer has not accepted the queued data in time.
    mutating func expire(at now: Instant) -> OnClose {
        guard let deadline, deadline <= now else { return .nothing }
        return abandon()
    }
}

/// An event on an Enhanced ATT bearer, a channel that the attribute layer owns.
enum BearerEvent: Equatable {
    /// A channel was opened, at the request of this host or of the peer.
    case opened(OpenedChannel)
    /// A channel that this host requested was not opened, because of this failure.
    case refused(Failure)
    /// The MTU of a bearer has changed to this number of octets, because the peer has increased its MTU.
    case mtuChanged(ChannelID, Int)
    /// An event on an open channel.
    case channel(ChannelID, ChannelEvent)
}

/// A protocol violation by a peer on a credit-based channel.
///
/// The violation closes the channel.
package enum ChannelFault: Equatable, Sendable {
    /// A K-frame for which the peer had no credit.
    case noCredit
    /// A K-frame longer than this host's MPS.
    case frameTooLong
    /// The first K-frame of an SDU does not contain the SDU length.
    case lengthMissing
    /// An SDU longer than this host's MTU.
    case sduTooLong
    /// More octets in an SDU than its SDU length announces.
    case sduExceeded
    /// More than 65535 credits.
    case creditsExceeded
}

extension ChannelFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noCredit: "a K-frame without a credit"
        case .frameTooLong: "a K-frame longer than the MPS"
        case .lengthMissing: "an SDU without its length"
        case .sduTooLong: "an SDU longer than the MTU"
        case .sduExceeded: "an SDU longer than announced"
        case .creditsExceeded: "more than 65535 credits"
        }
    }
}
