import BLEHost

/// What is in a ``StateFile``.
struct StateDocument: Equatable {
    /// What peers' identifiers are derived from.
    let secret: UInt128
    private(set) var peers: RememberedPeers

    init(secret: UInt128, peers: [PeerRecord] = [], limits: Limits = Limits()) {
        self.secret = secret
        self.peers = RememberedPeers(peers.map { $0.seen(by: nil) }, limits: limits)
        boundDatabases()
    }

    /// What is known of the peer of `record`: of who has its address, whatever the process calls it that met it.
    func known(of record: PeerRecord) -> PeerRecord? {
        peers[peers.identifier(at: record.address) ?? record.identifier]
    }

    /// Takes what a process learnt of a peer.
    mutating func apply(_ change: PeerChange) -> RememberedPeers.OnRemember {
        let outcome = peers.remember(change.applied(to: known(of: change.after)))
        if change.after.bonds.contains(where: { $0.database != nil }) { boundDatabases() }
        return outcome
    }

    /// Drops what is known of the attributes of peers until the rest fits a file.
    ///
    /// Peers that were of use longest ago come first. It is learnt again when they are connected.
    private mutating func boundDatabases() {
        var surplus = peers.all.reduce(-DatabaseDocument.mostLines) { $0 + $1.databaseLines }
        guard surplus > 0 else { return }
        peers.updateBonds { bond in
            guard surplus > 0, let lines = bond.database?.lines else { return }
            bond.database = nil
            surplus -= lines
        }
    }
}

extension PeerRecord {
    /// How many lines of a file the attributes of the peer take, for all adapters.
    fileprivate var databaseLines: Int { bonds.reduce(0) { $0 + ($1.database?.lines ?? 0) } }
}
