import BLECrypto
import BLEWire

/// Who is behind which address, and what they are called.
///
/// Peers that a client was connected to, or wanted to be, are known: they are remembered over a restart. Of the others,
/// those that were seen last are kept.
struct PeerTable {
    private let secret: UInt128
    private let serviceLimit: Int
    /// The services that clients found on peers last.
    private var services: BoundedMap<PeerIdentifier, [BluetoothUUID]>
    private var identifiers: BoundedMap<DeviceAddress, PeerIdentifier>
    private var seen: BoundedMap<PeerIdentifier, Seen>
    /// Those of them that were met last, in the order in which they were met first.
    private var met = Fifo<PeerIdentifier>()
    private let metLimit: Int
    private var known: RememberedPeers
    /// Where peers that change their addresses were heard last.
    private var latest: BoundedMap<PeerIdentifier, DeviceAddress>
    /// How often something has changed that ``sighted(_:_:)`` follows from, but for what an advertisement said.
    private var changes = 0

    /// A peer that nobody wanted to be connected to.
    private struct Seen {
        let address: DeviceAddress
        var name: String?
        var advertisedName: String?
    }

    /// The identity of the adapter in use; `nil` before there was one.
    private var adapter: DeviceAddress?
    /// Changes whenever ``friends(limit:)`` may.
    private(set) var keyRevision = 0

    init(secret: UInt128, records: [PeerRecord], limits: Limits) {
        self.secret = secret
        serviceLimit = limits.peerServices
        services = BoundedMap(capacity: max(limits.knownPeers, 2))
        identifiers = BoundedMap(capacity: limits.advertisers)
        seen = BoundedMap(capacity: limits.advertisers)
        metLimit = limits.introducedPeers
        known = RememberedPeers(records, limit: limits.knownPeers)
        latest = BoundedMap(capacity: max(limits.knownPeers, 2))
    }

    /// Has the bonds that were made on this adapter count, and no others.
    mutating func use(_ adapter: DeviceAddress) {
        guard adapter != self.adapter else { return }
        self.adapter = adapter
        known.use(adapter)
        // The keys of other bonds may have told who was behind a private address.
        identifiers.removeAll()
        latest.removeAll()
        keyRevision += 1
        changes += 1
    }

    /// The peers that are remembered, which clients may connect to without having seen them.
    var knownPeers: [KnownPeer] { known.all.map { KnownPeer(peer: $0.identifier, name: $0.bestName) } }

    /// The peers that were met last and are not remembered, to which clients may connect as well.
    var strangers: [KnownPeer] {
        (0..<met.count).compactMap { met[$0] }.compactMap { peer in
            known[peer] == nil ? seen.peek(peer).map { KnownPeer(peer: peer, name: $0.name ?? $0.advertisedName) } : nil
        }
    }

    /// The identifier of whoever has `address`, which is known to the table from now on.
    mutating func identifier(of address: DeviceAddress) -> PeerIdentifier {
        let address = address.onAir
        if let identifier = known.identifier(at: address) ?? identifiers[address] { return identifier }
        if let owner = known.owner(of: address) {
            identifiers[address] = owner
            latest[owner] = address
            return owner
        }
        let identifier = PeerIdentifier(rawValue: PeerUUID.identifier(of: address, secret: secret))
        identifiers[address] = identifier
        if known[identifier] == nil, seen[identifier] == nil {
            seen[identifier] = Seen(address: address)
            met.append(identifier)
            if met.count > metLimit { _ = met.popFirst() }
        }
        return identifier
    }

    /// Where `peer` is reached; `nil` if it was never seen, or too long ago.
    mutating func address(of peer: PeerIdentifier) -> DeviceAddress? { latest[peer] ?? record(of: peer)?.address }

    /// The best name known of `peer`.
    mutating func name(of peer: PeerIdentifier) -> String? { record(of: peer)?.bestName }

    /// What is kept of `peer` if it is bonded.
    func bond(with peer: PeerIdentifier) -> Bond? { known[peer]?.bond }

    /// Whether a bonded peer has this address for its identity.
    func isIdentity(_ address: DeviceAddress) -> Bool {
        known.identifier(at: address).flatMap { known[$0]?.bond }?.identity.onAir == address.onAir
    }

    /// The bonded peers that make their addresses with a key: as many as that, those that were of use last first.
    func friends(limit: Int) -> [LocalPrivacy.Friend] {
        Array(known.all.reversed().lazy.compactMap { $0.bond?.friend }.prefix(limit))
    }

    /// The services that clients found on `peer`, now or when it was connected last.
    mutating func services(of peer: PeerIdentifier) -> [BluetoothUUID] { services[peer] ?? [] }

    /// Clients have found services on `peer`.
    mutating func found(_ services: [BluetoothUUID], on peer: PeerIdentifier) {
        self.services[peer] = [BluetoothUUID](services.prefix(serviceLimit))
    }

    private mutating func record(of peer: PeerIdentifier) -> PeerRecord? {
        if let record = known[peer] { return record }
        return seen[peer].map {
            PeerRecord(identifier: peer, address: $0.address, name: $0.name, advertisedName: $0.advertisedName)
        }
    }

    /// What follows from something that was learnt of a peer.
    enum OnChange: Equatable {
        /// This is to be remembered now.
        case remember(PeerRecord)
        /// It would have to be remembered, but all for whom there is room have a bond.
        case full
        case nothing
    }

    /// Changes whenever ``sighted(_:_:)`` may come to something else than before for the same data from the same
    /// address, and before what was used last may be forgotten.
    var revision: Int { changes + identifiers.age + seen.age }

    /// Who advertises `data` at `address`, what that one is called, and what follows from the name in the data.
    mutating func sighted(
        _ address: DeviceAddress,
        _ data: [UInt8]
    ) -> (peer: PeerIdentifier, name: String?, change: OnChange) {
        let peer = identifier(of: address)
        let change = AdvertisingData.localName(in: data.span).map { advertised($0, by: peer) } ?? .nothing
        return (peer, name(of: peer), change)
    }

    /// An advertisement of `peer` had this name in it.
    mutating func advertised(_ name: String, by peer: PeerIdentifier) -> OnChange {
        change(peer) { $0.advertisedName = name }
    }

    /// The GAP service of `peer` has this name.
    mutating func read(_ name: String, from peer: PeerIdentifier) -> OnChange {
        changes += 1
        return change(peer) { $0.name = name }
    }

    /// A client wants a connection to `peer`.
    mutating func wanted(_ peer: PeerIdentifier) -> OnChange {
        guard let record = record(of: peer), !known.isLatest(peer) else { return .nothing }
        if record.bond?.friend != nil { keyRevision += 1 }
        return remember(record)
    }

    /// What is kept of a bonded peer is this from now on.
    mutating func bonded(_ peer: PeerIdentifier, _ bond: Bond) -> OnChange {
        guard var record = record(of: peer) else { return .nothing }
        record.bond = bond
        record.bond?.adapter = adapter
        return remember(record)
    }

    /// The devices that this host is bonded with, those that were of use last at the end.
    ///
    /// As long as no adapter has been in use those of all adapters count.
    var bonds: [BondedPeer] {
        known.all.compactMap { record in
            guard let bond = record.bond ?? (adapter == nil ? record.bonds.last : nil) else { return nil }
            return BondedPeer(
                peer: record.identifier,
                name: record.bestName,
                identity: bond.identity,
                strength: bond.strength
            )
        }
    }

    enum OnClaim: Equatable {
        /// Nobody had this identity before, or this peer had.
        case new
        /// Another peer had it, whose bond is gone: this is to be remembered of that one.
        case replaced(PeerRecord)
        /// Another peer has it, and the pairing is not good enough to take that one's place.
        case refused
    }

    /// Whether `peer` may be bonded with the identity that it gave when it paired.
    mutating func claim(_ bond: Bond, for peer: PeerIdentifier, by outcome: PairingOutcome) -> OnClaim {
        let other = known.all.first { $0.bond?.identity == bond.identity && $0.identifier != peer }
        guard var other, let earlier = other.bond else { return .new }
        guard outcome.mayReplace(earlier) else { return .refused }
        other.bond = nil
        changes += 1
        _ = known.remember(other)
        keyRevision += 1
        return .replaced(other)
    }

    /// There is no bond with a peer any more; with no adapter, as long as none has been in use.
    mutating func unbonded(_ peer: PeerIdentifier) -> OnChange {
        guard var record = known[peer] else { return .nothing }
        let before = record.bonds
        if adapter == nil { record.bonds = [] } else { record.bond = nil }
        return record.bonds == before ? .nothing : remember(record)
    }

    private mutating func remember(_ record: PeerRecord) -> OnChange {
        changes += 1
        let friend = known[record.identifier]?.bond?.friend
        guard known.remember(record) == .remembered else { return .full }
        if record.bond?.friend != friend { keyRevision += 1 }
        seen[record.identifier] = nil
        return .remember(record)
    }

    /// Changes what is known of the names of a peer; what is advertised is of no account if the GAP service was read.
    private mutating func change(_ peer: PeerIdentifier, _ body: (inout PeerRecord) -> Void) -> OnChange {
        guard let before = record(of: peer) else { return .nothing }
        var record = before
        body(&record)
        guard known[peer] != nil else {
            seen[peer] = Seen(address: record.address, name: record.name, advertisedName: record.advertisedName)
            return .nothing
        }
        let isNew = record.name != before.name || record.bestName != before.bestName
        return isNew ? remember(record) : .nothing
    }
}

extension Bond {
    /// The peer as the controller gets to know it; `nil` if it has no key.
    fileprivate var friend: LocalPrivacy.Friend? {
        resolvingKey.map { LocalPrivacy.Friend(identity: identity.onAir, key: $0) }
    }
}
