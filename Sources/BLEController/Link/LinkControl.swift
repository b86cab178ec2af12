import BLEWire

/// The LL control procedures that one end has started, one after the other, and its queue of control PDUs.
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
        /// Requests timing from the peer.
        case parameters(LL.ConnectionParameters)
        /// Sets the timing; central only.
        case timing(LL.ConnectionParameters)
        /// Sets the channel map; central only.
        case channels(UInt64)
        /// Starts encryption or refreshes the key; central only.
        indirect case encryption(EncryptionTerms)
        /// Requests an authenticated packet.
        case ping

        /// True for procedures with an instant, which cannot run at the same time.
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
        /// A response of the peer is outstanding.
        case awaiting(Procedure, deadline: Instant)
        /// The response arrived, and the change takes effect at its instant.
        case agreed(Procedure)
    }

    /// The maximum time until the peer's response.
    ///
    /// Core 6.0, Vol 6, Part B, 5.2.
    static let responseTimeout = Duration.seconds(40)
    /// The maximum number of queued procedures, except channel maps and responses, and of queued packets.
    static let limit = 8

    private var state = State.idle
    private var waiting: [Procedure] = []
    private var packets: [LLControlPacket] = []
    /// The reason with which this end closes the connection, and the time at which it does so even without an
    /// acknowledgement.
    private(set) var termination: (reason: UInt8, deadline: Instant)?
    /// True if this end has sent its version, which it does once.
    var hasSentVersion = false
    /// The version of the peer.
    var remoteVersion: LL.VersionIndication?
    var remoteFeatures: UInt64?
    /// The timing that the peer requested and that the host has not yet accepted or rejected.
    var requested: LL.ConnectionParameters?

    /// The running procedure.
    var active: Procedure? {
        switch state {
        case .idle: nil
        case .awaiting(let procedure, _), .agreed(let procedure): procedure
        }
    }

    /// The time at which the connection ends because the peer did not respond.
    var deadline: Instant? {
        if case .awaiting(_, let deadline) = state { deadline } else { nil }
    }

    /// Returns whether there is a packet to send; during encryption, one that may be sent then.
    func hasPacket(ofEncryption: Bool) -> Bool {
        ofEncryption ? packets.contains(where: Self.isSentWhileEncrypting) : !packets.isEmpty
    }

    /// True if nothing is running or queued.
    var isIdle: Bool { state == .idle && waiting.isEmpty && packets.isEmpty && termination == nil }

    /// True if another procedure other than a channel map can be queued.
    var canSubmit: Bool { waiting.count { !$0.isOfChannels } < Self.limit && termination == nil }

    /// The channel map that was queued last and is not yet in force; `nil` if there is none.
    var latestChannels: UInt64? {
        for procedure in waiting.reversed() { if case .channels(let map) = procedure { return map } }
        if case .channels(let map)? = active { return map }
        return nil
    }

    /// Queues a procedure; returns false if too many are queued.
    ///
    /// A channel map replaces a queued one, so there is always room for it. It would not be submitted again.
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

    /// Queues a procedure that responds to the peer, before all others.
    ///
    /// There is always room, because the peer has one request at a time and times out without a response.
    mutating func answer(with procedure: Procedure) {
        guard termination == nil else { return }
        waiting.insert(procedure, at: 0)
    }

    /// Removes and returns the next procedure to start, if none is running.
    mutating func next() -> Procedure? {
        guard state == .idle, termination == nil, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    /// Records that `procedure` has started with a packet that needs a response.
    mutating func await(_ procedure: Procedure, at now: Instant) {
        state = .awaiting(procedure, deadline: now + Self.responseTimeout)
    }

    /// Records that the running procedure has sent another packet that needs a response.
    mutating func renew(at now: Instant) {
        guard case .awaiting(let procedure, _) = state else { return }
        self.await(procedure, at: now)
    }

    /// Records that `procedure` takes effect at an instant.
    mutating func agree(on procedure: Procedure) { state = .agreed(procedure) }

    /// Records that the running procedure has ended.
    mutating func finish() { state = .idle }

    /// Queues a packet.
    ///
    /// If a peer sends requests faster than the link can respond, some get no response.
    mutating func send(_ packet: LLControlPacket) {
        guard packets.count < Self.limit, termination == nil else { return }
        packets.append(packet)
    }

    /// Returns the next packet to send; during encryption, the next that may be sent then.
    mutating func nextPacket(ofEncryption: Bool) -> LLControlPacket? {
        guard ofEncryption else { return packets.isEmpty ? nil : packets.removeFirst() }
        return packets.firstIndex(where: Self.isSentWhileEncrypting).map { packets.remove(at: $0) }
    }

    /// Core 6.0, Vol 6, Part B, 5.1.3.1.
    private static func isSentWhileEncrypting(_ packet: LLControlPacket) -> Bool {
        packet.opcode.isOfEncryption || packet.opcode == .terminate
    }

    /// Drops everything else and closes the connection.
    mutating func terminate(reason: UInt8, deadline: Instant) {
        guard termination == nil else { return }
        termination = (reason, deadline)
        state = .idle
        waiting.removeAll()
        packets = [.terminate(reason: reason)]
    }
}
