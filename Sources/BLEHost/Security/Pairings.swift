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
        var cause = PairingInquiry.Cause.peer
        /// Whether the peer was paired with on this link: once more would come to the same.
        var hasPaired = false
    }

    /// Whoever asks the user, the latest last.
    private var agents: [Agent] = []
    var entries = ConnectionTable<Entry>()
    /// How often pairing with peers has failed, over links.
    private var attempts: BoundedMap<PeerIdentifier, RepeatedAttempts>
    private var random: any RandomNumberGenerator & Sendable
    private let leastKeySize: Int

    init(random: any RandomNumberGenerator & Sendable, leastKeySize: Int, limits: Limits) {
        self.random = random
        self.leastKeySize = leastKeySize
        attempts = BoundedMap(capacity: max(limits.knownPeers, 2))
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
        for index in 0..<entries.count { configure(&entries.values[index].manager) }
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
        var manager = SecurityManager(
            role: role,
            local: local,
            peer: remote,
            identity: identity,
            existing: existing,
            attempts: attempts[peer] ?? RepeatedAttempts(),
            random: LinkGenerator(base: random, salt: random.next())
        )
        configure(&manager)
        entries[link] = Entry(manager: manager)
    }

    /// Forgets a link that has ended, but not how often pairing failed on it.
    mutating func linkDown(_ link: ConnectionHandle, to peer: PeerIdentifier) {
        guard let entry = entries[link] else { return }
        attempts[peer] = entry.manager.attempts
        entries[link] = nil
    }

    private func configure(_ manager: inout SecurityManager) {
        manager.configuration.ioCapability = agent?.capability ?? .noInputNoOutput
        manager.configuration.leastKeySize = leastKeySize
    }
}

/// What one link draws its numbers from: even of a generator that is copied, no two links have the same.
private struct LinkGenerator: RandomNumberGenerator, Sendable {
    var base: any RandomNumberGenerator & Sendable
    let salt: UInt64

    mutating func next() -> UInt64 { base.next() ^ salt }
}
