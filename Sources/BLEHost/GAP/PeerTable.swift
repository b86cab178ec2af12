import BLECrypto
import BLEWire

/// Who is behind which address, and what they are called.
///
/// Peers that a client was connected to, or wanted to be, are known: they are remembered over a restart. Of the others,
/// those that were seen last are kept.
struct PeerTable {
    private struct Peer {
        var address: DeviceAddress
        /// What the peer calls itself in advertisements.
        var advertisedName: String?
        /// What its GAP service says, which is more.
        var ownName: String?
        var bond: Bond?

        var name: String? { ownName ?? advertisedName }

        func record(of identifier: PeerIdentifier) -> PeerRecord {
            PeerRecord(identifier: identifier, address: address, name: name, bond: bond)
        }
    }

    private let secret: UInt128
    private let limit: Int
    private var identifiers: BoundedMap<DeviceAddress, PeerIdentifier>
    private var seen: BoundedMap<PeerIdentifier, Peer>
    private var known: [PeerIdentifier: Peer] = [:]
    /// The known peers in the order in which they became so.
    private var order: [PeerIdentifier] = []

    init(secret: UInt128, records: [PeerRecord], limits: Limits) {
        self.secret = secret
        limit = limits.knownPeers
        identifiers = BoundedMap(capacity: limits.sightings)
        seen = BoundedMap(capacity: limits.sightings)
        for record in records.suffix(limit) where known[record.identifier] == nil {
            known[record.identifier] = Peer(address: record.address, ownName: record.name, bond: record.bond)
            order.append(record.identifier)
        }
    }

    /// The peers that clients may connect to without having seen them.
    var knownPeers: [KnownPeer] { order.map { KnownPeer(peer: $0, name: known[$0]?.name) } }

    /// The identifier of whoever has `address`, which is known to the table from now on.
    mutating func identifier(of address: DeviceAddress) -> PeerIdentifier {
        let address = address.onAir
        if let identifier = identifiers[address] { return identifier }
        let identifier = PeerIdentifier(rawValue: PeerIdentity.identifier(of: address, secret: secret))
        identifiers[address] = identifier
        if known[identifier] == nil, seen[identifier] == nil { seen[identifier] = Peer(address: address) }
        return identifier
    }

    /// Where `peer` is reached; `nil` if it was never seen, or too long ago.
    mutating func address(of peer: PeerIdentifier) -> DeviceAddress? { (known[peer] ?? seen[peer])?.address }

    /// The best name known of `peer`.
    mutating func name(of peer: PeerIdentifier) -> String? { (known[peer] ?? seen[peer])?.name }

    /// What is kept of `peer` if it is bonded.
    func bond(with peer: PeerIdentifier) -> Bond? { known[peer]?.bond }

    /// An advertisement of `peer` had this name in it.
    ///
    /// This and the three that follow return what is to be remembered now, if anything is.
    mutating func advertised(_ name: String, by peer: PeerIdentifier) -> PeerRecord? {
        change(peer) { $0.advertisedName = name }
    }

    /// The GAP service of `peer` has this name.
    mutating func read(_ name: String, from peer: PeerIdentifier) -> PeerRecord? {
        change(peer) { $0.ownName = name }
    }

    /// A client wants a connection to `peer`.
    mutating func wanted(_ peer: PeerIdentifier) -> PeerRecord? {
        guard known[peer] == nil, let entry = seen[peer] else { return nil }
        seen[peer] = nil
        know(entry, as: peer)
        return entry.record(of: peer)
    }

    /// What is kept of a bonded peer is this from now on.
    mutating func bonded(_ peer: PeerIdentifier, _ bond: Bond) -> PeerRecord? {
        guard var entry = known[peer] ?? seen[peer] else { return nil }
        entry.bond = bond
        if known[peer] == nil {
            seen[peer] = nil
            know(entry, as: peer)
        } else {
            known[peer] = entry
        }
        return entry.record(of: peer)
    }

    private mutating func know(_ entry: Peer, as peer: PeerIdentifier) {
        if order.count >= limit { known[order.removeFirst()] = nil }
        known[peer] = entry
        order.append(peer)
    }

    private mutating func change(_ identifier: PeerIdentifier, _ body: (inout Peer) -> Void) -> PeerRecord? {
        guard var peer = known[identifier] else {
            guard var peer = seen[identifier] else { return nil }
            body(&peer)
            seen[identifier] = peer
            return nil
        }
        let before = peer.name
        body(&peer)
        known[identifier] = peer
        guard peer.name != before else { return nil }
        return peer.record(of: identifier)
    }
}
