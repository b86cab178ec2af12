import BLEHost

/// The contents of a ``StateFile``.
struct StateDocument: Equatable {
    /// The secret from which the identifiers of peers are derived.
    let secret: UInt128
    private(set) var peers: KnownPeers

    init(secret: UInt128, peers: [PeerRecord] = [], limits: Limits = Limits()) {
        self.secret = secret
        self.peers = KnownPeers(peers.map { $0.selectingBond(for: nil) }, limits: limits)
        boundDatabases()
    }

    /// Returns the stored record of the peer that `record` is about; `nil` if the peer is not stored.
    ///
    /// The peer is found by the address in `record`, even if the stored identifier differs. If no stored peer has the
    /// address, the peer is found by its identifier.
    func known(of record: PeerRecord) -> PeerRecord? {
        peers[peers.identifier(at: record.address) ?? record.identifier]
    }

    /// Applies a change that a process has made to a peer; returns whether there was room for the peer.
    mutating func apply(_ change: PeerChange) -> KnownPeers.OnRemember {
        let outcome = peers.remember(change.applied(to: known(of: change.after)))
        if change.after.bonds.contains(where: { $0.database != nil }) { boundDatabases() }
        return outcome
    }

    /// Drops cached attributes, those of the least recently used peers first, until the others fit into a file.
    ///
    /// The dropped attributes are discovered again when their peers connect.
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
    /// The number of lines that the peer's attributes take, for all adapters together.
    fileprivate var databaseLines: Int { bonds.reduce(0) { $0 + ($1.database?.lines ?? 0) } }
}
