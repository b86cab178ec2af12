import BLEWire

/// The LL control procedures that one end has begun, one after the other, and the control PDUs that it has to send.
///
///                begin              answered, no instant
///       ┌──────┐ ─────▶ ┌──────────┐ ────────────────────▶ idle
///       │ idle │        │ awaiting │ ── instant agreed ──▶ agreed ─── instant ──▶ idle
///       └──────┘        └──────────┘ ── 40 s ────────────▶ the connection ends
///
/// Core 6.0, Vol 6, Part B, 5.1.
struct LinkControl: Sendable {
    /// A procedure that this end may begin.
    enum Procedure: Equatable, Sendable {
        case version
        case features
        case length
        case phy(LL.PHYPreference)
        /// Asks the other end for timing.
        case parameters(LL.ConnectionParameters)
        /// Lays down timing, as only a central can.
        case timing(LL.ConnectionParameters)
        /// Lays down channels, as only a central can.
        case channels(UInt64)
        /// Encrypts the connection, or encrypts it anew, as only a central can.
        indirect case encryption(EncryptionTerms)
        /// Asks for something authentic.
        case ping

        /// Whether an instant is agreed on, so that no other such procedure may run at the same time.
        var hasInstant: Bool {
            switch self {
            case .version, .features, .length, .encryption, .ping: false
            case .phy, .parameters, .timing, .channels: true
            }
        }

        /// Whether it lays down channels.
        var isOfChannels: Bool { if case .channels = self { true } else { false } }
    }

    private enum State: Equatable, Sendable {
        case idle
        /// The other end has to answer.
        case awaiting(Procedure, deadline: Instant)
        /// The answer is there and the change comes with its instant.
        case agreed(Procedure)
    }

    /// How long the other end may take to answer.
    ///
    /// Core 6.0, Vol 6, Part B, 5.2.
    static let responseTimeout = Duration.seconds(40)
    /// How many procedures may wait for their turn, beside channels and answers, and how many packets for theirs.
    static let limit = 8

    private var state = State.idle
    private var waiting: [Procedure] = []
    private var packets: [LLControlPacket] = []
    /// The reason with which this end leaves, and when it does so even if nobody acknowledges that.
    private(set) var termination: (reason: UInt8, deadline: Instant)?
    /// Whether this end has sent its version, which it does once.
    var hasSentVersion = false
    /// What the other end said of itself.
    var remoteVersion: LL.VersionIndication?
    var remoteFeatures: UInt64?
    /// Timing that the other end asked for and that the host has not yet answered.
    var requested: LL.ConnectionParameters?

    /// The procedure under way.
    var active: Procedure? {
        switch state {
        case .idle: nil
        case .awaiting(let procedure, _), .agreed(let procedure): procedure
        }
    }

    /// When the connection ends because the other end did not answer.
    var deadline: Instant? {
        if case .awaiting(_, let deadline) = state { deadline } else { nil }
    }

    /// Whether there is a packet to send; if the connection is being encrypted, one that may be sent meanwhile.
    func hasPacket(ofEncryption: Bool) -> Bool {
        ofEncryption ? packets.contains(where: Self.isSentWhileEncrypting) : !packets.isEmpty
    }

    /// Whether nothing is under way or waiting.
    var isIdle: Bool { state == .idle && waiting.isEmpty && packets.isEmpty && termination == nil }

    /// Whether one more procedure may be queued, be it not of channels.
    var canSubmit: Bool { waiting.count { !$0.isOfChannels } < Self.limit && termination == nil }

    /// The channels that were submitted last and are not yet in force; `nil` if there are none.
    var latestChannels: UInt64? {
        for procedure in waiting.reversed() { if case .channels(let map) = procedure { return map } }
        if case .channels(let map)? = active { return map }
        return nil
    }

    /// Queues a procedure; false if too many wait.
    ///
    /// Channels take the place of those that wait, and so there is always room for them: nobody would name them again.
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

    /// Puts first a procedure with which this end answers the other.
    ///
    /// There is room for it, since the other end asks for one thing at a time, and gives up if nothing comes.
    mutating func answer(with procedure: Procedure) {
        guard termination == nil else { return }
        waiting.insert(procedure, at: 0)
    }

    /// Takes the next procedure to begin, if none is under way.
    mutating func next() -> Procedure? {
        guard state == .idle, termination == nil, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    /// Notes that `procedure` has begun with a packet that wants an answer.
    mutating func await(_ procedure: Procedure, at now: Instant) {
        state = .awaiting(procedure, deadline: now + Self.responseTimeout)
    }

    /// Notes that the procedure under way has gone on with a packet that wants an answer.
    mutating func renew(at now: Instant) {
        guard case .awaiting(let procedure, _) = state else { return }
        self.await(procedure, at: now)
    }

    /// Notes that `procedure` is agreed on and completes at an instant.
    mutating func agree(on procedure: Procedure) { state = .agreed(procedure) }

    /// Notes that the procedure under way is over.
    mutating func finish() { state = .idle }

    /// Queues a packet; a stranger who asks faster than the link answers is not answered every time.
    mutating func send(_ packet: LLControlPacket) {
        guard packets.count < Self.limit, termination == nil else { return }
        packets.append(packet)
    }

    /// Takes the next packet to send; if the connection is being encrypted, the next that may be sent meanwhile.
    mutating func nextPacket(ofEncryption: Bool) -> LLControlPacket? {
        guard ofEncryption else { return packets.isEmpty ? nil : packets.removeFirst() }
        return packets.firstIndex(where: Self.isSentWhileEncrypting).map { packets.remove(at: $0) }
    }

    /// Core 6.0, Vol 6, Part B, 5.1.3.1.
    private static func isSentWhileEncrypting(_ packet: LLControlPacket) -> Bool {
        packet.opcode.isOfEncryption || packet.opcode == .terminate
    }

    /// Drops everything else and says goodbye.
    mutating func terminate(reason: UInt8, deadline: Instant) {
        guard termination == nil else { return }
        termination = (reason, deadline)
        state = .idle
        waiting.removeAll()
        packets = [.terminate(reason: reason)]
    }
}
