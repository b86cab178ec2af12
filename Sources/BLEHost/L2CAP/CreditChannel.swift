import BLEWire

/// One end of a credit-based channel, from its opening until both ends know that it is closed.
///
///                close                     empty, or too late
///        ┌──────┐ ────▶ ┌──────────┐ ─────────────────────────▶ ┌─────────┐ ── answer, timeout ──▶ gone
///        │ open │       │ draining │                            │ closing │
///        └──────┘ ───── broken, abandoned ────────────────────▶ └─────────┘
///
/// The owner is told that it is closed when it requests that; later data of the peer are dropped.
///
/// Core 6.0, Vol 3, Part A, 4.6, 4.7 and 10.
struct CreditChannel {
    /// The way in which a channel was opened, which determines whether its sizes can change.
    enum Kind: Equatable { case single, enhanced }

    /// The owner of a channel.
    enum Owner: Equatable {
        case client(ClientID)
        /// The attribute layer, for an Enhanced ATT bearer.
        case attributes
        /// An owner that is gone.
        case nobody
    }

    private enum State {
        case open
        /// The owner has closed the channel, and the queued data are sent as long as the peer accepts them.
        case draining(due: Instant)
        /// The peer was asked to close the channel.
        case closing
    }

    /// The maximum time for the queued data after the owner closed the channel.
    static let drainPatience = Duration.seconds(5)

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

    /// The description for the owner.
    var opened: OpenedChannel {
        OpenedChannel(id: id, psm: spsm, outgoingMTU: outgoing.mtu, incomingMTU: incoming.mtu)
    }

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// True if the peer was asked to close it and only its response is outstanding.
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

    /// The action that closes a channel.
    enum OnClose: Equatable {
        case nothing
        /// Send a request to the peer.
        case disconnect
    }

    /// Closes the channel for its owner, after the queued data were sent if possible.
    mutating func close(at now: Instant) -> OnClose {
        guard case .open = state else { return .nothing }
        owner = .nobody
        if outgoing.isEmpty {
            state = .closing
            return .disconnect
        }
        state = .draining(due: now + Self.drainPatience)
        return .nothing
    }

    /// Closes the channel if the queued data were sent.
    mutating func drained() -> OnClose {
        guard case .draining = state, outgoing.isEmpty else { return .nothing }
        state = .closing
        return .disconnect
    }

    /// Closes the channel immediately, regardless of queued data.
    mutating func abandon() -> OnClose {
        owner = .nobody
        guard !isClosing else { return .nothing }
        state = .closing
        return .disconnect
    }

    /// Closes the channel if the peer did not accept the queued data in time.
    mutating func expire(at now: Instant) -> OnClose {
        guard let deadline, deadline <= now else { return .nothing }
        return abandon()
    }
}
