import BLEWire

/// One end of a credit-based channel, from when both ends know of it until neither does.
///
///                close                     empty, or too late
///        ┌──────┐ ────▶ ┌──────────┐ ─────────────────────────▶ ┌─────────┐ ── answer, timeout ──▶ gone
///        │ open │       │ draining │                            │ closing │
///        └──────┘ ───── broken, abandoned ────────────────────▶ └─────────┘
///
/// Its owner hears that it is closed when it is asked to be: what the peer sends afterwards is dropped.
///
/// Core 6.0, Vol 3, Part A, 4.6, 4.7 and 10.
struct CreditChannel {
    /// How a channel was asked for, which decides whether its sizes may change.
    enum Kind: Equatable { case single, enhanced }

    /// Who uses a channel.
    enum Owner: Equatable {
        case client(ClientID)
        /// The attribute layer, as an Enhanced ATT bearer.
        case attributes
        /// Somebody who is gone.
        case nobody
    }

    private enum State {
        case open
        /// The owner has no more to send, and what there is goes out as long as the peer takes it.
        case draining(due: Instant)
        /// The peer has been asked to close it.
        case closing
    }

    /// How long the peer may take for what is left when the owner closes the channel.
    static let drainPatience = Duration.seconds(5)

    let id: ChannelID
    let kind: Kind
    let spsm: SPSM
    /// What this end names the channel.
    let local: ChannelIdentifier
    /// What the other end names it.
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

    /// What its owner is told of it.
    var opened: OpenedChannel {
        OpenedChannel(id: id, psm: spsm, outgoingMTU: outgoing.mtu, incomingMTU: incoming.mtu)
    }

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether the peer has been asked to close it, so that only its answer is awaited.
    var isClosing: Bool {
        if case .closing = state { true } else { false }
    }

    /// When to call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? {
        if case .draining(let due) = state { due } else { nil }
    }

    /// What a packet of the peer calls for.
    enum OnReceive: Equatable {
        case nothing
        case deliver([UInt8])
        /// The peer broke the rules.
        case close(ChannelFault)
    }

    /// Takes the payload of one packet.
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

    /// What is to be done to close a channel.
    enum OnClose: Equatable {
        case nothing
        /// Ask the peer.
        case disconnect
    }

    /// Its owner wants nothing more of it, but what was sent is to arrive if that can be.
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

    /// Closes it if what was left to send has gone.
    mutating func drained() -> OnClose {
        guard case .draining = state, outgoing.isEmpty else { return .nothing }
        state = .closing
        return .disconnect
    }

    /// Closes it at once, whatever waits.
    mutating func abandon() -> OnClose {
        owner = .nobody
        guard !isClosing else { return .nothing }
        state = .closing
        return .disconnect
    }

    /// Closes it if the peer has not taken in time what was left.
    mutating func expire(at now: Instant) -> OnClose {
        guard let deadline, deadline <= now else { return .nothing }
        return abandon()
    }
}
