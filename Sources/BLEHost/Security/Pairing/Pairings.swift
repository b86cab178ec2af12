import BLECrypto
import BLEWire

/// The security managers of the links on which there has been anything for them to do, and who asks the user.
struct Pairings {
    /// The client that asks the user, and what it can show and be told.
    struct Agent: Equatable {
        let client: ClientID
        let capability: SMP.IOCapability
    }

    /// What belongs to a pairing beside its manager.
    struct Entry {
        var manager: SecurityManager
        let peer: PeerIdentifier
        private(set) var cause = PairingInquiry.Cause.peer
        /// Whether the user was asked something in this pairing.
        var isAttended = false
        /// Whether there is room for a bond with the peer.
        fileprivate var hasRoom = true
        /// Whether the peer could not be paired with on this link so that nobody stands in between.
        var isHopeless = false
        /// Whether the peer was paired with on this link: once more would come to the same.
        var hasPaired = false
        /// What has been agreed on and given, for as long as it is not certain that the peer got the last of it.
        var outcome: PairingOutcome?

        init(manager: SecurityManager, peer: PeerIdentifier) {
            self.manager = manager
            self.peer = peer
        }

        /// Notes that a pairing begins for this cause.
        fileprivate mutating func begin(for cause: PairingInquiry.Cause, hasRoom: Bool) {
            self.cause = cause
            self.hasRoom = hasRoom
            isAttended = false
        }
    }

    /// Whoever asks the user, the latest last.
    private var agents: [Agent] = []
    var entries = ConnectionTable<Entry>()
    /// How often pairing with peers has failed, over links.
    private var attempts: BoundedMap<PeerIdentifier, RepeatedAttempts>
    private var random: any RandomNumberGenerator & Sendable
    /// What this host offers whoever asks the user.
    private let configuration: SecurityManager.Configuration
    /// What clients insist on.
    private var policies: [(client: ClientID, policy: PairingPolicy)] = []
    private var secrets: OutOfBandSecrets

    init(
        random: any RandomNumberGenerator & Sendable,
        configuration: SecurityManager.Configuration,
        limits: Limits
    ) {
        self.random = random
        self.configuration = configuration
        attempts = BoundedMap(capacity: max(limits.knownPeers, 2))
        secrets = OutOfBandSecrets(limit: max(limits.knownPeers, 1))
    }

    /// Who is to ask the user: of several, the latest.
    var agent: Agent? { agents.last }

    /// When something is due, if nothing happens before.
    var deadline: Instant? {
        var least: Instant?
        for index in 0..<entries.count { least.bringForward(to: entries.values[index].manager.deadline) }
        return least
    }

    /// Has this client ask the user from now on, in place of all others; with `nil`, it asks no more.
    mutating func attend(_ client: ClientID, _ capability: SMP.IOCapability?) {
        agents.removeAll { $0.client == client }
        if let capability { agents.append(Agent(client: client, capability: capability)) }
        configureAll()
    }

    /// When this host pairs although there is no agent.
    var unattended: UnattendedPairing { policy.unattended ?? configuration.unattended }

    /// Notes that a pairing begins on a link for this cause, with room for a bond or without.
    mutating func begin(at index: Int, for cause: PairingInquiry.Cause, hasRoom: Bool) {
        var entry = entries.values[index]
        entry.begin(for: cause, hasRoom: hasRoom)
        configure(&entry)
        entries.values[index] = entry
    }

    /// Whether there is out-of-band data for a pairing with a peer: what the peer told, or, if the peer `isInformed`,
    /// what it may have been told.
    func isTold(of peer: PeerIdentifier, isInformed: Bool) -> Bool {
        let data = secrets.data(for: peer, allowsLegacy: !policy.requiresSecureConnections)
        return data.remote != nil || isInformed && (data.local != nil || data.temporaryKey != nil)
    }

    /// What all clients together insist on.
    var policy: PairingPolicy { policies.reduce(PairingPolicy()) { $0.joined(with: $1.policy) } }

    /// Has this client insist on something.
    mutating func insist(_ client: ClientID, on policy: PairingPolicy) {
        policies.removeAll { $0.client == client }
        if policy != PairingPolicy() { policies.append((client, policy)) }
        configureAll()
    }

    /// A client is gone: it asks nobody, insists on nothing, and what it was told counts no more.
    mutating func leave(_ client: ClientID) {
        policies.removeAll { $0.client == client }
        secrets.leave(client)
        attend(client, nil)
    }

    /// Makes what a client tells others of this host by other means than Bluetooth.
    mutating func makeOutOfBandData(for client: ClientID) -> SecurityManager.OutOfBandData.Told {
        var generator = LinkGenerator(base: random, salt: random.next())
        let pair = P256KeyPair(using: &generator)
        let number = UInt128(generator.next()) << 64 | UInt128(generator.next())
        random = generator.base
        let told = SecurityManager.OutOfBandData.Told(for: pair, random: Key128(wire: number))
        changeSecrets { $0.tell(told, for: pair, by: client) }
        return told
    }

    /// Changes what is known by other means than Bluetooth.
    mutating func changeSecrets(_ body: (inout OutOfBandSecrets) -> Void) {
        body(&secrets)
        configureAll()
    }

    /// Makes the manager of a link, unless there is one.
    mutating func prepare(
        _ link: ConnectionHandle,
        to peer: PeerIdentifier,
        role: LinkRole,
        local: DeviceAddress,
        remote: DeviceAddress,
        identity: SecurityManager.Identity,
        existing: PairingStrength?
    ) {
        guard entries[link] == nil else { return }
        let manager = SecurityManager(
            role: role,
            local: local,
            peer: remote,
            identity: identity,
            configuration: configuration,
            existing: existing,
            attempts: attempts[peer] ?? RepeatedAttempts(),
            random: LinkGenerator(base: random, salt: random.next())
        )
        var entry = Entry(manager: manager, peer: peer)
        configure(&entry)
        entries[link] = entry
    }

    /// There is no bond with a peer any more: whatever it pairs for is better than that.
    mutating func bondRemoved(with peer: PeerIdentifier) {
        for index in 0..<entries.count where entries.values[index].peer == peer {
            entries.values[index].manager.existing = nil
        }
    }

    /// Forgets a link that has ended, but not how often pairing failed on it.
    mutating func linkDown(_ link: ConnectionHandle, to peer: PeerIdentifier) {
        guard let entry = entries[link] else { return }
        attempts[peer] = entry.manager.attempts
        entries[link] = nil
    }

    private mutating func configureAll() {
        for index in 0..<entries.count {
            var entry = entries.values[index]
            configure(&entry)
            entries.values[index] = entry
        }
    }

    private func configure(_ entry: inout Entry) {
        let policy = policy
        entry.manager.configuration.ioCapability = agent?.capability ?? .noInputNoOutput
        entry.manager.configuration.isBonding = configuration.isBonding && policy.keepsBonds && entry.hasRoom
        entry.manager.configuration.asksForConsentAsCentral =
            configuration.asksForConsentAsCentral || agent != nil && unattended == .never
        entry.manager.configuration.leastKeySize = max(configuration.leastKeySize, policy.leastKeySize)
        entry.manager.configuration.secureConnections =
            policy.requiresSecureConnections ? .required : configuration.secureConnections
        entry.manager.configuration.outOfBand = secrets.data(
            for: entry.peer,
            allowsLegacy: !policy.requiresSecureConnections
        )
    }
}

/// What one link draws its numbers from: even of a generator that is copied, no two links have the same.
private struct LinkGenerator: RandomNumberGenerator, Sendable {
    var base: any RandomNumberGenerator & Sendable
    let salt: UInt64

    mutating func next() -> UInt64 { base.next() ^ salt }
}
