import BLECrypto
import BLEHost
import BLEWire

/// Two security managers, a link between them, and a user at each end.
struct SecurityPair {
    /// One end of the link.
    struct End {
        var manager: SecurityManager
        /// What the user sees.
        var shown: UInt32?
        /// What the user has been asked and has not answered.
        var open: PairingQuestion?
        /// All that the manager said but what it sent.
        var told: [SecurityManager.Output] = []
        /// What is under way to this end.
        var inbox: [[UInt8]] = []

        var outcome: PairingOutcome? {
            told.lazy.compactMap { if case .paired(let outcome) = $0 { outcome } else { nil } }.last
        }

        var failures: [PairingFailure] {
            told.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
        }

        var questions: [PairingQuestion] {
            told.compactMap { if case .ask(let question) = $0 { question } else { nil } }
        }
    }

    /// Something that an end was told.
    enum Event: Equatable {
        case packet([UInt8])
        case reply(PairingReply)
        case keyRequest
        case encrypted
    }

    static let centralAddress = DeviceAddress(0xC0C1_C2C3_C4C5, .random)
    static let peripheralAddress = DeviceAddress(0xA0A1_A2A3_A4A5, .public)
    /// Pairs of keys that tests use again and again, since they take time to make.
    static let pairs: [P256KeyPair] = {
        var random = SeededGenerator(seed: 99)
        return (0..<3).map { _ in P256KeyPair(using: &random) }
    }()

    var central: End
    var peripheral: End
    var now = Instant()
    /// What is encrypted with, once it is.
    var key: LongTermKey?
    /// Each packet that was sent, in order, with the role of who sent it.
    var log: [(from: LinkRole, octets: [UInt8])] = []
    /// Each event of either end, in order, and what the manager was like after it.
    var history: [(role: LinkRole, event: Event, after: SecurityManager)] = []
    var keepsHistory = false
    /// What a user says; `nil` for nothing yet.
    var answer: (LinkRole, PairingQuestion, _ otherShows: UInt32?) -> PairingReply? = Self.honest
    /// What becomes of a packet on its way.
    var tamper: (LinkRole, [UInt8]) -> [[UInt8]] = { _, packet in [packet] }
    /// How many packets the link lasts.
    var lifetime = Int.max

    init(
        central: SecurityManager.Configuration = .test(),
        peripheral: SecurityManager.Configuration = .test(),
        existing: PairingStrength? = nil,
        seed: UInt64 = 1
    ) {
        self.central = End(manager: Self.manager(.central, central, existing, seed: seed))
        self.peripheral = End(manager: Self.manager(.peripheral, peripheral, existing, seed: seed &+ 1000))
    }

    static func manager(
        _ role: LinkRole,
        _ configuration: SecurityManager.Configuration,
        _ existing: PairingStrength? = nil,
        seed: UInt64 = 1
    ) -> SecurityManager {
        var configuration = configuration
        configuration.keyPair = configuration.keyPair ?? pairs[role == .central ? 0 : 1]
        let identity = SecurityManager.Identity(
            address: DeviceAddress(role == .central ? 0xC000_0000_0001 : 0xC000_0000_0002, .random),
            resolvingKey: Key128(wire: role == .central ? 0x11 : 0x22),
            signingKey: Key128(wire: role == .central ? 0x33 : 0x44)
        )
        return SecurityManager(
            role: role,
            local: role == .central ? centralAddress : peripheralAddress,
            peer: role == .central ? peripheralAddress : centralAddress,
            identity: identity,
            configuration: configuration,
            existing: existing,
            random: SeededGenerator(seed: seed)
        )
    }

    /// What a user says who does what is asked.
    static func honest(_ role: LinkRole, _ question: PairingQuestion, _ otherShows: UInt32?) -> PairingReply? {
        switch question {
        case .consent: .confirm(true)
        case .display: nil
        case .enterPasskey: .passkey(otherShows ?? 271_828)
        case .compare(let number): otherShows.map { .confirm($0 == number) }
        }
    }

    subscript(role: LinkRole) -> End {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    /// Has one end begin, and everything that follows happen.
    mutating func pair(needsMITM: Bool = false, from role: LinkRole = .central) {
        self[role].manager.pair(needsMITM: needsMITM, at: now)
        run()
    }

    /// Lets everything happen that is about to.
    mutating func run() {
        while drain(.central) || drain(.peripheral) || deliver(.peripheral) || deliver(.central) || reply(.central)
            || reply(.peripheral)
        {}
    }

    /// The link ends.
    mutating func disconnect() {
        lifetime = 0
        central.inbox = []
        peripheral.inbox = []
        central.manager.disconnected(at: now)
        peripheral.manager.disconnected(at: now)
        _ = drain(.central)
        _ = drain(.peripheral)
    }

    private mutating func drain(_ role: LinkRole) -> Bool {
        var hasSaid = false
        while let output = self[role].manager.next() {
            hasSaid = true
            guard case .send(let packet) = output else {
                self[role].told.append(output)
                follow(output, role)
                continue
            }
            log.append((role, packet))
            guard lifetime > 0 else { continue }
            lifetime -= 1
            self[role.other].inbox += tamper(role, packet)
        }
        return hasSaid
    }

    private mutating func follow(_ output: SecurityManager.Output, _ role: LinkRole) {
        switch output {
        case .encrypt(let key): encrypt(key)
        case .ask(let question):
            self[role].open = question
            switch question {
            case .display(let number), .compare(let number): self[role].shown = number
            case .consent, .enterPasskey: break
            }
        case .withdraw: self[role].open = nil
        case .securityRequested: self[role].manager.pair(needsMITM: false, at: now)
        case .send, .paired, .failed, .note: break
        }
    }

    /// The two controllers encrypt the link, if both hosts have the same key.
    private mutating func encrypt(_ key: LongTermKey) {
        let answer = peripheral.manager.longTermKey(for: key.random, diversifier: key.diversifier)
        note(.peripheral, .keyRequest)
        let change: EncryptionChange = answer == key.key ? .on : .failed
        if change == .on { self.key = key }
        peripheral.manager.encryptionChanged(change, at: now)
        note(.peripheral, .encrypted)
        central.manager.encryptionChanged(change, at: now)
        note(.central, .encrypted)
    }

    private mutating func deliver(_ role: LinkRole) -> Bool {
        guard !self[role].inbox.isEmpty else { return false }
        let packet = self[role].inbox.removeFirst()
        self[role].manager.receive(packet.span, at: now)
        note(role, .packet(packet))
        return true
    }

    private mutating func reply(_ role: LinkRole) -> Bool {
        guard let question = self[role].open, let reply = answer(role, question, self[role.other].shown) else {
            return false
        }
        self[role].open = nil
        self[role].manager.answer(reply, at: now)
        note(role, .reply(reply))
        return true
    }

    private mutating func note(_ role: LinkRole, _ event: Event) {
        if keepsHistory { history.append((role, event, self[role].manager)) }
    }
}

extension LinkRole {
    var other: Self { self == .central ? .peripheral : .central }
}

extension SecurityManager.Configuration {
    /// What an end of a test offers.
    static func test(
        _ io: SMP.IOCapability = .noInputNoOutput,
        _ generation: SecureConnections = .preferred,
        protection: Protection = .preferred
    ) -> Self {
        var configuration = Self()
        configuration.ioCapability = io
        configuration.secureConnections = generation
        configuration.protection = protection
        configuration.asksForConsent = false
        configuration.initiatorKeys = [.encryption, .identity, .signing]
        configuration.responderKeys = [.encryption, .identity, .signing]
        return configuration
    }

    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}
