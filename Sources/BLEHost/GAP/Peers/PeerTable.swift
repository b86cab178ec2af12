import BLECrypto
import BLEWire

/// The identifiers, addresses and names of peers.
///
/// Peers that a client was or wanted to be connected to are stored across restarts. Of the others, the most recent ones
/// are kept.
struct PeerTable {
    private let secret: UInt128
    private let serviceLimit: Int
    /// The services that clients last discovered on peers.
    private var services: BoundedMap<PeerIdentifier, [BluetoothUUID]>
    private var identifiers: BoundedMap<DeviceAddress, PeerIdentifier>
    private var seen: BoundedMap<PeerIdentifier, Seen>
    /// The most recently discovered ones of them, in the order of their first discovery.
    private var met = Fifo<PeerIdentifier>()
    private let metLimit: Int
    private var known: KnownPeers
    /// The last address of peers that change their addresses.
    private var latest: BoundedMap<PeerIdentifier, DeviceAddress>
    /// The bonded peers that stand on the controller's resolving list under an address that is never on the air.
    private var placeholders: [DeviceAddress: PeerIdentifier] = [:]
    /// The number of changes that affect the result of ``sighted(_:_:)``, except advertised names.
    private var changes = 0

    /// A peer that no client wanted to connect to.
    private struct Seen {
        let address: DeviceAddress
        var name: String?
        var advertisedName: String?
    }

    /// The identity address of the current adapter; `nil` before there was one.
    private var adapter: DeviceAddress?
    /// Increases whenever ``resolvablePeers(limit:)`` may change.
    private(set) var keyRevision = 0

    init(secret: UInt128, records: [PeerRecord], limits: Limits) {
        self.secret = secret
        serviceLimit = limits.peerServices
        services = BoundedMap(capacity: max(limits.knownPeers, 2))
        identifiers = BoundedMap(capacity: limits.advertisers)
        seen = BoundedMap(capacity: limits.advertisers)
        metLimit = limits.introducedPeers
        known = KnownPeers(records, limits: limits)
        latest = BoundedMap(capacity: max(limits.knownPeers, 2))
    }

    /// Uses the bonds with this adapter, and no others.
    mutating func use(_ adapter: DeviceAddress) {
        guard adapter != self.adapter else { return }
        self.adapter = adapter
        known.use(adapter)
        // The keys of other bonds may have told who was behind a private address.
        identifiers.removeAll()
        latest.removeAll()
        placeholders = [:]
        keyRevision += 1
        changes += 1
    }

    /// Forgets the bonds that were made on a virtual radio in another run, and adds the peers of this run.
    mutating func recall(_ records: [PeerRecord], on radio: DeviceAddress) {
        for var record in known.all where record.bonds.contains(where: { $0.adapter == radio }) {
            record.bonds.removeAll { $0.adapter == radio }
            _ = known.remember(record)
        }
        for record in records { _ = known.remember(record.seen(by: adapter)) }
        identifiers.removeAll()
        keyRevision += 1
        changes += 1
    }

    /// The stored peers, to which clients can connect without a scan.
    var knownPeers: [KnownPeer] { known.all.map { KnownPeer(peer: $0.identifier, name: $0.bestName) } }

    /// The most recently discovered peers that are not stored, to which clients can connect, too.
    var strangers: [KnownPeer] {
        (0..<met.count).compactMap { met[$0] }.compactMap { peer in
            known[peer] == nil ? seen.peek(peer).map { KnownPeer(peer: peer, name: $0.name ?? $0.advertisedName) } : nil
        }
    }

    /// The identifier of the peer with `address`, which is known to the table from now on.
    ///
    /// An address is that of a bonded peer only if the peer was reached at it, if the peer's key made it, or if the
    /// controller has resolved that to what stands for the peer on its list.
    mutating func identifier(of address: DeviceAddress) -> PeerIdentifier {
        let address = address.onAir
        if let peer = known.identifier(at: address) ?? placeholders[address] ?? identifiers[address] { return peer }
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

    /// The peer at the other end of a link, and the address to show for it.
    ///
    /// A private address that the controller has resolved says more than the result: a client may wait for a peer at
    /// that address, and the key of the bond must have made it.
    mutating func identify(_ link: NewLink) -> (peer: PeerIdentifier, address: DeviceAddress) {
        let resolved = link.details.address.onAir
        guard let onAir = link.peerPrivateAddress else {
            let peer = identifier(of: resolved)
            return (peer, shown(resolved, of: peer))
        }
        if let peer = known.identifier(at: onAir) { return (peer, known[peer]?.provedIdentity ?? onAir) }
        guard let peer = placeholders[resolved] ?? known.identifier(at: resolved), let record = known[peer],
            record.bond?.resolvingKey.map({ PrivateAddress.isMade(onAir, with: $0) }) ?? false
        else { return (identifier(of: onAir), onAir) }
        latest[peer] = onAir
        return (peer, record.provedIdentity ?? onAir)
    }

    /// The address to show for a peer that the controller reports with `address`: one that it had on the air.
    mutating func shown(_ address: DeviceAddress, of peer: PeerIdentifier) -> DeviceAddress {
        guard !placeholders.isEmpty, placeholders[address.onAir] == peer else { return address }
        return latest[peer] ?? known[peer]?.address ?? address
    }

    /// Returns the address of `peer`; `nil` if it was never received, or too long ago.
    mutating func address(of peer: PeerIdentifier) -> DeviceAddress? { latest[peer] ?? record(of: peer)?.address }

    /// Returns the best known name of `peer`.
    mutating func name(of peer: PeerIdentifier) -> String? { record(of: peer)?.bestName }

    /// Returns the bond with `peer`.
    func bond(with peer: PeerIdentifier) -> Bond? { known[peer]?.bond }

    /// Returns whether a bonded peer was reached at this address, which it keeps.
    func isKept(_ address: DeviceAddress) -> Bool {
        known.identifier(at: address).flatMap { known[$0] }.map { $0.bond != nil && $0.provedIdentity != nil } ?? false
    }

    /// Returns up to `limit` bonded peers with an IRK, most recently used first.
    ///
    /// From then on the addresses that stand for them belong to them.
    mutating func resolvablePeers(limit: Int) -> [LocalPrivacy.ResolvablePeer] {
        placeholders = [:]
        for record in known.all where record.bond?.resolvingKey != nil && record.provedIdentity == nil {
            placeholders[record.listedAddress(secret: secret)] = record.identifier
        }
        changes += 1
        let known = known, secret = secret
        return Array(known.all.reversed().lazy.compactMap { known.resolvablePeer($0, secret: secret) }.prefix(limit))
    }

    /// How the controller's resolving list names `peer`, if it can.
    func resolvablePeer(_ peer: PeerIdentifier) -> LocalPrivacy.ResolvablePeer? {
        known[peer].flatMap { known.resolvablePeer($0, secret: secret) }
    }

    /// Returns the services that clients have discovered on `peer`, in this or its last connection.
    mutating func services(of peer: PeerIdentifier) -> [BluetoothUUID] { services[peer] ?? [] }

    /// Records that clients discovered services on `peer`.
    mutating func found(_ services: [BluetoothUUID], on peer: PeerIdentifier) {
        self.services[peer] = [BluetoothUUID](services.prefix(serviceLimit))
    }

    private mutating func record(of peer: PeerIdentifier) -> PeerRecord? {
        if let record = known[peer] { return record }
        return seen[peer].map {
            PeerRecord(identifier: peer, address: $0.address, name: $0.name, advertisedName: $0.advertisedName)
        }
    }

    /// The consequence of new information about a peer.
    enum OnChange: Equatable {
        /// Store this record.
        case remember(PeerRecord)
        /// The same, and the bond with another peer has given way: this is to be remembered of that one before.
        case replace(PeerRecord, with: PeerRecord)
        /// It should be stored, but there is only room for bonded peers.
        case full
        case nothing
    }

    /// Changes whenever ``sighted(_:_:)`` may return another result for the same data and address, and before the last
    /// used entry can be dropped.
    var revision: Int { changes + identifiers.age + seen.age }

    /// The peer that advertises `octets` at `address`, its name, and what changed because of the name in the octets.
    mutating func sighted(
        _ address: DeviceAddress,
        _ octets: AdvertisementOctets
    ) -> (peer: PeerIdentifier, name: String?, change: OnChange) {
        let peer = identifier(of: address)
        let change = octets.localName.map { advertised($0, by: peer) } ?? .nothing
        return (peer, name(of: peer), change)
    }

    /// Records the name in an advertisement of `peer`.
    mutating func advertised(_ name: String, by peer: PeerIdentifier) -> OnChange {
        change(peer) { $0.advertisedName = name }
    }

    /// Records the name in the GAP service of `peer`.
    mutating func read(_ name: String, from peer: PeerIdentifier) -> OnChange {
        changes += 1
        return change(peer) { $0.name = name }
    }

    /// Records that a client wants to connect to `peer`.
    mutating func wanted(_ peer: PeerIdentifier) -> OnChange {
        guard let record = record(of: peer), !known.isLatest(peer) else { return .nothing }
        if record.bond?.resolvingKey != nil { keyRevision += 1 }
        return remember(record)
    }

    /// A pairing has succeeded on a link on which `peer` had `address` on the air.
    ///
    /// - Parameters:
    ///   - peer: The peer of the link.
    ///   - bond: What the pairing has made.
    ///   - address: Where the peer was on the air.
    ///   - isInUse: Whether another peer is connected at the identity address in the bond, or waited for.
    /// - Returns: The bond to keep, with what the peer has proved of its identity.
    mutating func paired(
        _ peer: PeerIdentifier,
        _ bond: Bond,
        at address: DeviceAddress,
        isInUse: Bool
    ) -> (bond: Bond, change: OnChange) {
        let isSeen = identifiers.peek(bond.identity.onAir).map { $0 != peer } ?? false
        let proved = bond.proved(
            on: address,
            isTaken: isInUse || isSeen || known.isTaken(bond.identity, from: peer),
            isKeyTaken: bond.resolvingKey.map { known.isTaken($0, from: peer) } ?? false
        )
        guard var record = record(of: peer) else { return (proved, .nothing) }
        // A key that has changed made the new address, and not the one before.
        if record.provedIdentity == nil { record.address = address.onAir }
        record.bond = proved
        record.bond?.adapter = adapter
        let change = remember(record)
        return (known[peer]?.bond ?? proved, change)
    }

    /// Records the bond with a peer.
    mutating func bonded(_ peer: PeerIdentifier, _ bond: Bond) -> OnChange {
        guard var record = record(of: peer) else { return .nothing }
        let earlier = record.bond.flatMap { $0.isOfSamePairing(as: bond) ? $0.wantedBy : nil }
        record.bond = bond
        record.bond?.adapter = adapter
        record.bond?.wantedBy = max(earlier ?? bond.wantedBy, bond.wantedBy)
        return remember(record)
    }

    /// Returns whether there is room for a bond with a peer that this party wants, if need be in place of another bond.
    func hasRoom(forBondWith peer: PeerIdentifier, wantedBy party: Bond.Origin) -> Bool {
        known.hasRoom(forBondWith: peer, wantedBy: party)
    }

    /// The devices with whose bonds an app has to do, those that were of use last at the end.
    ///
    /// As long as no adapter has been in use those of all adapters count.
    func bonds(of owner: ClientOwner) -> [BondedPeer] {
        known.all.compactMap { record in
            guard let bond = record.bond ?? (adapter == nil ? record.bonds.last : nil), bond.belongs(to: owner) else {
                return nil
            }
            return BondedPeer(
                peer: record.identifier,
                name: record.bestName,
                identity: known.identity(of: record, bond),
                strength: bond.strength
            )
        }
    }

    /// Removes the bond with a peer; all of them if no adapter was used yet.
    mutating func unbonded(_ peer: PeerIdentifier) -> OnChange {
        guard var record = known[peer] else { return .nothing }
        let before = record.bonds
        if adapter == nil { record.bonds = [] } else { record.bond = nil }
        return record.bonds == before ? .nothing : remember(record)
    }

    private mutating func remember(_ record: PeerRecord) -> OnChange {
        changes += 1
        let before = known[record.identifier], key = record.bond?.resolvingKey
        let outcome = known.remember(record)
        guard outcome != .refused else { return .full }
        if key != before?.bond?.resolvingKey || key != nil && record.provedIdentity != before?.provedIdentity {
            keyRevision += 1
        }
        // The latest address of a peer whose key no longer counts is meaningless.
        if key == nil, record.provedIdentity != nil { latest[record.identifier] = nil }
        seen[record.identifier] = nil
        let kept = known[record.identifier] ?? record
        guard case .replaced(let other) = outcome else { return .remember(kept) }
        keyRevision += 1
        return .replace(other, with: kept)
    }

    /// Changes the names of a peer.
    ///
    /// An advertised name is ignored if the GAP service was read.
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
