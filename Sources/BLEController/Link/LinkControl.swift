import BLEWire

/// The link layer control procedures of one end, which run one after the other, and this end's queue of control PDUs.
///
///                begin              answered, no instant
///       ┌──────┐ ─────▶ ┌──────────┐ ────────────────────▶ idle
///       │ idle │        │ awaiting │ ── instant agreed ──▶ agreed ─── instant ──▶ idle
///       └──────┘        └──────────┘ ── 40 s ────────────▶ the connection ends
///
/// Core 6.0, Vol 6, Part B, 5.1.
struct LinkControl: Sendable {
    /// A procedure that this end can start.
    enum Procedure: Equatable, Sendable {
        case version
        case features
        case length
        case phy(LL.PHYPreference)
        /// Requests new timing from the peer.
        case parameters(LL.ConnectionParameters)
        /// Sets new timing; only the central does this.
        case timing(LL.ConnectionParameters)
        /// Sets the channel map; only the central does this.
        case channels(UInt64)
        /// Starts encryption or refreshes the key; only the central does this.
        indirect case encryption(EncryptionTerms)
        /// Sends a ping, so that the peer responds with an authenticated packet.
        case ping

        /// True for procedures whose change takes effect at an agreed instant; the two ends must not run such
        /// procedures at the same time.
        var hasInstant: Bool {
            switch self {
            case .version, .features, .length, .encryption, .ping: false
            case .phy, .parameters, .timing, .channels: true
            }
        }

        /// True for procedures that set the channel map.
        var isOfChannels: Bool { if case .channels = self { true } else { false } }
    }

    private enum State: Equatable, Sendable {
        case idle
        /// The peer has not responded yet.
        case awaiting(Procedure, deadline: Instant)
        /// The change of the procedure takes effect at an agreed instant, which has not been reached yet.
        case agreed(Procedure)
    }

    /// The maximum time that a peer may take to respond; after that, the connection ends.
    ///
    /// Core 6.0, Vol 6, Part B, 5.2.
    static let responseTimeout = Duration.seconds(40)
    /// The maximum number of queued procedures, which is also the maximum number of queued packets.
    ///
    /// Queued channel maps do not count. A procedure that responds to the peer is queued even if the limit is reached.
    static let limit = 8

    private var state = State.idle
    private var waiting: [Procedure] = []
    private var packets: [LLControlPacket] = []
    /// This end's reason for closing the connection, and the time at which it stops waiting for the peer's
    /// acknowledgement; `nil` unless this end is closing the connection.
    private(set) var termination: (reason: UInt8, deadline: Instant)?
    /// True if this end has sent its version, which it may send only once.
    var hasSentVersion = false
    /// The version of the peer; `nil` until the peer has sent it.
    var remoteVersion: LL.VersionIndication?
    var remoteFeatures: UInt64?
    /// The timing that the peer requested and that the host has not yet accepted or rejected; `nil` if there is none.
    var requested: LL.ConnectionParameters?

    /// The procedure that is under way; `nil` if there is none.
    var active: Procedure? {
        switch state {
        case .idle: nil
        case .awaiting(let procedure, _), .agreed(let procedure): procedure
        }
    }

    /// The time at which the connection ends unless the peer responds first; `nil` if no response is due.
    var deadline: Instant? {
        if case .awaiting(_, let deadline) = state { deadline } else { nil }
    }

    /// Returns whether a packet is queued; if `ofEncryption` is true, only packets that may be sent during an
    /// encryption procedure count.
    func hasPacket(ofEncryption: Bool) -> Bool {
        ofEncryption ? packets.contains(where: Self.isSentWhileEncrypting) : !packets.isEmpty
    }

    /// True if no procedure is running, neither procedures nor packets are queued, and this end is not closing the
    /// connection.
    var isIdle: Bool { state == .idle && waiting.isEmpty && packets.isEmpty && termination == nil }

    /// True if a procedure that does not set the channel map can be queued: there is room, and this end is not closing
    /// the connection.
    var canSubmit: Bool { waiting.count { !$0.isOfChannels } < Self.limit && termination == nil }

    /// The channel map that was requested last and is not in effect yet; `nil` if there is none.
    var latestChannels: UInt64? {
        for procedure in waiting.reversed() { if case .channels(let map) = procedure { return map } }
        if case .channels(let map)? = active { return map }
        return nil
    }

    /// Queues a procedure; returns false if too many are queued or this end is closing the connection.
    ///
    /// A new channel map replaces a queued one, so there is always room for it. This is necessary because no caller
    /// would submit a rejected channel map again.
    mutating func submit(_ procedure: Procedure) -> Bool {
        if procedure.isOfChannels {
            guard termination == nil else { return false }
            waiting.removeAll(where: \.isOfChannels)
        } else {
            guard canSubmit else { return false }
        }
        waiting.append(procedure)
        return true
    }

    /// Queues a procedure that responds to a request from the peer, in front of all others.
    ///
    /// There is always room for it, because a peer sends its next request only after the response to the previous one.
    mutating func answer(with procedure: Procedure) {
        guard termination == nil else { return }
        waiting.insert(procedure, at: 0)
    }

    /// Removes and returns the next queued procedure; `nil` if a procedure is running or none is queued.
    mutating func next() -> Procedure? {
        guard state == .idle, termination == nil, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    /// Records that `procedure` has started and that its first packet needs a response.
    mutating func await(_ procedure: Procedure, at now: Instant) {
        state = .awaiting(procedure, deadline: now + Self.responseTimeout)
    }

    /// Records that the running procedure has sent another packet that needs a response.
    mutating func renew(at now: Instant) {
        guard case .awaiting(let procedure, _) = state else { return }
        self.await(procedure, at: now)
    }

    /// Records that both ends have agreed on the instant at which the change of `procedure` takes effect.
    mutating func agree(on procedure: Procedure) { state = .agreed(procedure) }

    /// Records that the running procedure has ended.
    mutating func finish() { state = .idle }

    /// Queues a packet.
    ///
    /// The packet is dropped if this end is closing the connection, or if the queue is full because the peer sends
    /// requests faster than this end can respond.
    mutating func send(_ packet: LLControlPacket) {
        guard packets.count < Self.limit, termination == nil else { return }
        packets.append(packet)
    }

    /// Removes and returns the next queued packet; `nil` if there is none.
    ///
    /// If `ofEncryption` is true, only packets that may be sent during an encryption procedure count.
    mutating func nextPacket(ofEncryption: Bool) -> LLControlPacket? {
        guard ofEncryption else { return packets.isEmpty ? nil : packets.removeFirst() }
        return packets.firstIndex(where: Self.isSentWhileEncrypting).map { packets.remove(at: $0) }
    }

    /// Returns the packet that ``nextPacket(ofEncryption:)`` would return.
    func upcomingPacket(ofEncryption: Bool) -> LLControlPacket? {
        ofEncryption ? packets.first(where: Self.isSentWhileEncrypting) : packets.first
    }

    /// Returns whether a packet may be sent during an encryption procedure.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.3.1.
    private static func isSentWhileEncrypting(_ packet: LLControlPacket) -> Bool {
        packet.opcode.isOfEncryption || packet.opcode == .terminate
    }

    /// Starts closing the connection, and drops all procedures and all other packets.
    ///
    /// At `deadline`, this end stops waiting for the peer's acknowledgement.
    mutating func terminate(reason: UInt8, deadline: Instant) {
        guard termination == nil else { return }
        termination = (reason, deadline)
        state = .idle
        waiting.removeAll()
        packets = [.terminate(reason: reason)]
    }
}
