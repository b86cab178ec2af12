import BLECrypto
import BLEWire

/// The security managers of all links that need one, with the agents and the policies of clients.
struct Pairings {
    /// A client that asks the user questions about pairings, and its IO capability.
    struct Agent: Equatable {
        let client: ClientID
        fileprivate(set) var owner: ClientOwner
        let capability: SMP.IOCapability
    }

    /// The policy that a client has set.
    private struct Requirement {
        let client: ClientID
        var owner: ClientOwner
        let policy: PairingPolicy
        let isEverywhere: Bool

        /// True if the policy applies to every link.
        var appliesToAllLinks: Bool { owner.isProgram || isEverywhere && owner.isAdministrator }
    }

    /// The security manager of a link, with related data.
    struct Entry {
        var manager: SecurityManager
        let peer: PeerIdentifier
        /// The apps that use the link; during a pairing, those that used the link when the pairing began.
        fileprivate(set) var apps: LinkApps
        private(set) var cause = PairingInquiry.Cause.peer
        /// The agent that was asked last in this pairing; `nil` if none was.
        var lastAskedAgent: ClientID?
        /// True if the user was asked something in this pairing.
        var hasAskedUser: Bool { lastAskedAgent != nil }
        /// True if the host can store a bond with the peer.
        fileprivate var hasRoom = true
        /// True if this host has refused a pairing on this link with the reason Authentication Requirements.
        var cannotAuthenticate = false
        /// True if the peer has already paired on this link; another pairing would have the same result.
        var hasPaired = false
        /// The result of a successful pairing, until it is certain that the peer has received the last key.
        var outcome: PairingOutcome?
        /// True if the peer was bonded over another link after the pairing began, so the pairing must not replace the
        /// bond.
        fileprivate(set) var isOutdated = false

        init(manager: SecurityManager, peer: PeerIdentifier, apps: LinkApps) {
            self.manager = manager
            self.peer = peer
            self.apps = apps
        }

        /// Records that a pairing begins for this cause; `hasRoom` is true if the host can store a bond with the peer.
        fileprivate mutating func begin(for cause: PairingInquiry.Cause, hasRoom: Bool) {
            self.cause = cause
            self.hasRoom = hasRoom
            lastAskedAgent = nil
            if outcome == nil { isOutdated = false }
        }
    }

    /// The agents, latest last.
    private var agents: [Agent] = []
    var entries = ConnectionTable<Entry>()
    /// The failed pairing attempts of peers, across links.
    private var attempts: BoundedMap<PeerIdentifier, RepeatedAttempts>
    private var random: any RandomNumberGenerator & Sendable
    /// The pairing features of this host, before agents and policies are taken into account.
    private let configuration: SecurityManager.Configuration
    private var requirements: [Requirement] = []
    private var secrets: OutOfBandSecrets

    init(
        random: any RandomNumberGenerator & Sendable,
        configuration: SecurityManager.Configuration,
        limits: Limits
    ) {
        self.random = random
        self.configuration = configuration
        attempts = BoundedMap(capacity: max(limits.knownPeers, 2))
        secrets = OutOfBandSecrets(limit: max(1, min(limits.knownPeers, OutOfBandSecrets.mostPerApp)))
    }

    /// Returns the latest agent that may be asked about pairings on a link that these apps use; `nil` if there is none.
    func agent(for apps: LinkApps) -> Agent? { agents.last { apps.canAnswer($0.owner) } }

    /// The earliest time at which a security manager must be woken; `nil` if there is none.
    var deadline: Instant? {
        var least: Instant?
        for index in 0..<entries.count { least.bringForward(to: entries.values[index].manager.deadline) }
        return least
    }

    /// Makes a client an agent with this capability; `nil` ends its role as an agent.
    mutating func setAgent(_ client: ClientID, of owner: ClientOwner, _ capability: SMP.IOCapability?) {
        agents.removeAll { $0.client == client }
        if let capability { agents.append(Agent(client: client, owner: owner, capability: capability)) }
        configureAll()
    }

    /// Returns the conditions under which this host pairs without an agent on a link that these apps use.
    func unattended(for apps: LinkApps) -> UnattendedPairing {
        policy(for: apps).unattended ?? configuration.unattended
    }

    /// Records that a pairing begins on a link for this cause.
    ///
    /// `hasRoom` is true if the host can store a bond.
    mutating func begin(at index: Int, for cause: PairingInquiry.Cause, hasRoom: Bool) {
        var entry = entries.values[index]
        entry.begin(for: cause, hasRoom: hasRoom)
        configure(&entry)
        entries.values[index] = entry
    }

    /// Returns whether there are out-of-band data for a pairing with a peer, on a link that these apps use.
    ///
    /// The peer's data are sufficient. If the peer may have received data from this host (`peerMayHaveData`), this
    /// host's data or a temporary key are also sufficient.
    func hasOutOfBandData(for peer: PeerIdentifier, apps: LinkApps, peerMayHaveData: Bool) -> Bool {
        let data = secrets.data(
            for: peer,
            allowsLegacy: !policy(for: apps).requiresSecureConnections,
            counting: counting(for: apps)
        )
        return data.remote != nil || peerMayHaveData && (data.local != nil || data.temporaryKey != nil)
    }

    /// Returns the combined policy for a link that these apps use.
    func policy(for apps: LinkApps) -> PairingPolicy {
        let counting = requirements.filter { $0.appliesToAllLinks || apps.contains($0.owner) }
        var policy = counting.reduce(PairingPolicy()) { $0.joined(with: $1.policy) }
        let isForbidden = counting.contains { $0.appliesToAllLinks && !$0.policy.keepsBonds }
        policy.keepsBonds =
            !isForbidden
            && apps.keepBonds { owner in
                counting.contains { !$0.policy.keepsBonds && $0.owner.isSameApp(as: owner) }
            }
        return policy
    }

    /// Sets a client's policy, in place of the client's previous policy.
    ///
    /// `everywhere` is true if the policy is for all links, not only for those that the client's app uses.
    mutating func setPolicy(_ policy: PairingPolicy, by client: ClientID, of owner: ClientOwner, everywhere: Bool) {
        requirements.removeAll { $0.client == client }
        if policy != PairingPolicy() {
            requirements.append(Requirement(client: client, owner: owner, policy: policy, isEverywhere: everywhere))
        }
        configureAll()
    }

    /// Removes a client's role as an agent, its policy and its out-of-band data.
    mutating func removeClient(_ client: ClientID) {
        requirements.removeAll { $0.client == client }
        secrets.removeData(of: client)
        agents.removeAll { $0.client == client }
        configureAll()
    }

    /// Changes the owner of a client's agent, policy and out-of-band data.
    ///
    /// `owner` is the client's app, which was launched again or now has other rights.
    mutating func transfer(_ client: ClientID, to owner: ClientOwner) {
        for index in agents.indices where agents[index].client == client { agents[index].owner = owner }
        for index in requirements.indices where requirements[index].client == client {
            requirements[index].owner = owner
        }
        secrets.transfer(client, to: owner)
        configureAll()
    }

    /// Generates this host's out-of-band data for a client.
    mutating func makeOutOfBandData(
        for client: ClientID,
        of owner: ClientOwner
    ) -> SecurityManager.OutOfBandData.DeviceData {
        var generator = SaltedGenerator(base: random, salt: random.next())
        let pair = P256KeyPair(using: &generator)
        let number = UInt128(generator.next()) << 64 | UInt128(generator.next())
        random = generator.base
        let data = SecurityManager.OutOfBandData.DeviceData(for: pair, random: Key128(wire: number))
        changeSecrets { $0.setLocalData(data, for: pair, by: client, of: owner) }
        return data
    }

    /// Changes the out-of-band data.
    mutating func changeSecrets(_ body: (inout OutOfBandSecrets) -> Void) {
        body(&secrets)
        configureAll()
    }

    /// Removes the out-of-band data that a pairing on a link may have used.
    mutating func useSecrets(on link: ConnectionHandle) {
        guard let entry = entries[link] else { return }
        let counts = counting(for: entry.apps)
        changeSecrets { $0.removeUsed(with: entry.peer, counting: counts) }
    }

    /// Updates the apps that use a link.
    ///
    /// Has no effect during a pairing, which continues with the apps that it began with.
    mutating func note(_ apps: LinkApps, on link: ConnectionHandle) {
        guard let index = entries.index(of: link), !entries.values[index].manager.isUnderWay,
            entries.values[index].apps != apps
        else { return }
        var entry = entries.values[index]
        entry.apps = apps
        configure(&entry)
        entries.values[index] = entry
    }

    /// Creates the security manager of a link, unless the link already has one.
    mutating func prepare(
        _ link: ConnectionHandle,
        to peer: PeerIdentifier,
        role: LinkRole,
        local: DeviceAddress,
        remote: DeviceAddress,
        identity: SecurityManager.Identity,
        existing: PairingStrength?,
        apps: LinkApps
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
            random: SaltedGenerator(base: random, salt: random.next())
        )
        var entry = Entry(manager: manager, peer: peer, apps: apps)
        configure(&entry)
        entries[link] = entry
    }

    /// Records that the bond with a peer was removed; a new pairing may then have any strength.
    mutating func bondRemoved(with peer: PeerIdentifier, at now: Instant) {
        for index in 0..<entries.count where entries.values[index].peer == peer {
            entries.values[index].manager.bondRemoved(at: now)
        }
    }

    /// Records that a pairing on `link` has made a bond with a peer.
    ///
    /// From then on, only a pairing that is at least as strong may replace the bond. A pairing that has already begun
    /// on another link to the peer may not replace it, because no user was asked about that.
    mutating func bonded(with peer: PeerIdentifier, on link: ConnectionHandle, _ strength: PairingStrength) {
        for index in 0..<entries.count where entries.values[index].peer == peer {
            entries.values[index].manager.existing = strength
            if entries.handle(at: index) != link { entries.values[index].isOutdated = true }
        }
    }

    /// Forgets the failed pairing attempts of all peers.
    mutating func forgetAttempts() { attempts.removeAll() }

    /// Removes a link that has ended, but keeps the failed attempts of its peer.
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
        let policy = policy(for: entry.apps), agent = agent(for: entry.apps)
        let unattended = policy.unattended ?? configuration.unattended
        entry.manager.configuration.ioCapability = agent?.capability ?? .noInputNoOutput
        entry.manager.configuration.isBonding = configuration.isBonding && policy.keepsBonds && entry.hasRoom
        entry.manager.configuration.asksForConsentAsCentral =
            configuration.asksForConsentAsCentral || agent != nil && unattended == .never
        entry.manager.configuration.leastKeySize = max(configuration.leastKeySize, policy.leastKeySize)
        entry.manager.configuration.secureConnections =
            policy.requiresSecureConnections ? .required : configuration.secureConnections
        entry.manager.configuration.outOfBand = secrets.data(
            for: entry.peer,
            allowsLegacy: !policy.requiresSecureConnections,
            counting: counting(for: entry.apps)
        )
    }

    /// Returns a function that says whether a client's out-of-band data may be used on a link that these apps use.
    private func counting(for apps: LinkApps) -> (ClientID, ClientOwner) -> Bool {
        let agent = agent(for: apps)?.client
        return { client, owner in apps.contains(owner) || client == agent }
    }
}

/// The random number generator for the pairings on one link, or for the out-of-band data of one client.
///
/// Generators with different salts give different numbers, even if their bases are copies of the same generator.
private struct SaltedGenerator: RandomNumberGenerator, Sendable {
    var base: any RandomNumberGenerator & Sendable
    let salt: UInt64

    mutating func next() -> UInt64 { base.next() ^ salt }
}
