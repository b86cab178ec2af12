import BLECrypto
import BLEWire

/// The identifiers, addresses and names of peers.
///
/// Peers that a client was connected to, or wanted to connect to, are stored across restarts. Of all other peers, only
/// the most recent ones are kept.
struct PeerTable {
    private let secret: UInt128
    private let serviceLimit: Int
    /// The services that clients have discovered on peers during the current or last connection.
    private var services: BoundedMap<PeerIdentifier, [BluetoothUUID]>
    private var identifiers: BoundedMap<DeviceAddress, PeerIdentifier>
    private var seen: BoundedMap<PeerIdentifier, Seen>
    /// The most recently discovered peers in ``seen``, in the order in which they were first discovered.
    private var discovered = Fifo<PeerIdentifier>()
    private let discoveredLimit: Int
    private var known: KnownPeers
    /// The last over-the-air address of each peer whose address changes.
    private var latest: BoundedMap<PeerIdentifier, DeviceAddress>
    /// The addresses that identify bonded peers on the controller's resolving list, but are never used over the air.
    private var placeholders: [DeviceAddress: PeerIdentifier] = [:]
    /// The number of changes that may affect the result of ``noteAdvertisement(from:_:)``.
    ///
    /// Changes of advertised names do not count.
    private var changes = 0

    /// A peer that is not stored, because no client wanted to connect to it.
    private struct Seen {
        let address: DeviceAddress
        var name: String?
        var advertisedName: String?
    }

    /// The identity address of the current adapter; `nil` before the first adapter was used.
    private var adapter: DeviceAddress?
    /// A number that increases whenever ``resolvablePeers(limit:)`` may return another result.
    private(set) var keyRevision = 0

    init(secret: UInt128, records: [PeerRecord], limits: Limits) {
        self.secret = secret
        serviceLimit = limits.peerServices
        services = BoundedMap(capacity: max(limits.knownPeers, 2))
        identifiers = BoundedMap(capacity: limits.advertisers)
        seen = BoundedMap(capacity: limits.advertisers)
        discoveredLimit = limits.introducedPeers
        known = KnownPeers(records, limits: limits)
        latest = BoundedMap(capacity: max(limits.knownPeers, 2))
    }

    /// Makes the bonds with this adapter the current ones.
    mutating func use(_ adapter: DeviceAddress) {
        guard adapter != self.adapter else { return }
        self.adapter = adapter
        known.use(adapter)
        // The IRKs of the bonds with the previous adapter may have resolved private addresses.
        identifiers.removeAll()
        latest.removeAll()
        placeholders = [:]
        keyRevision += 1
        changes += 1
    }

    /// Removes all bonds with the virtual radio at the address `radio`, which are from an earlier run of the radio, and
    /// adds the records that were stored during its current run.
    mutating func load(_ records: [PeerRecord], on radio: DeviceAddress) {
        for var record in known.all where record.bonds.contains(where: { $0.adapter == radio }) {
            record.bonds.removeAll { $0.adapter == radio }
            _ = known.remember(record)
        }
        for record in records { _ = known.remember(record.selectingBond(for: adapter)) }
        identifiers.removeAll()
        keyRevision += 1
        changes += 1
    }

    /// The stored peers.
    ///
    /// Clients can connect to them without scanning first.
    var knownPeers: [KnownPeer] { known.all.map { KnownPeer(peer: $0.identifier, name: $0.bestName) } }

    /// The most recently discovered peers that are not stored.
    ///
    /// Clients can connect to them, too.
    var recentUnknownPeers: [KnownPeer] {
        (0..<discovered.count).compactMap { discovered[$0] }.compactMap { peer in
            known[peer] == nil ? seen.peek(peer).map { KnownPeer(peer: peer, name: $0.name ?? $0.advertisedName) } : nil
        }
    }

    /// Returns the identifier of the peer with `address`.
    ///
    /// A new peer gets an identifier and is added to the table.
    ///
    /// An address belongs to a bonded peer only if the peer was reached at it, if the peer's IRK resolves it, or if the
    /// peer has this address on the controller's resolving list. The controller reports the address on the list in
    /// place of a private address that it has resolved.
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
            discovered.append(identifier)
            if discovered.count > discoveredLimit { _ = discovered.popFirst() }
        }
        return identifier
    }

    /// Returns the peer of a new link, and the address to report for the peer.
    ///
    /// If the controller has resolved a private address, a peer that is known at that address takes precedence over the
    /// controller's result, because a client may be waiting for that peer. Otherwise, the result counts only if the IRK
    /// in the bond resolves the address.
    mutating func identify(_ link: NewLink) -> (peer: PeerIdentifier, address: DeviceAddress) {
        let resolved = link.details.address.onAir
        guard let onAir = link.peerPrivateAddress else {
            let peer = identifier(of: resolved)
            return (peer, reportedAddress(for: resolved, of: peer))
        }
        if let peer = known.identifier(at: onAir) { return (peer, known[peer]?.provedIdentity ?? onAir) }
        guard let peer = placeholders[resolved] ?? known.identifier(at: resolved), let record = known[peer],
            record.bond?.resolvingKey.map({ RandomAddress.isMade(onAir, with: $0) }) ?? false
        else { return (identifier(of: onAir), onAir) }
        latest[peer] = onAir
        return (peer, record.provedIdentity ?? onAir)
    }

    /// Returns the address to report for a peer that the controller has reported with `address`.
    ///
    /// The returned address is always an over-the-air address.
    mutating func reportedAddress(for address: DeviceAddress, of peer: PeerIdentifier) -> DeviceAddress {
        guard !placeholders.isEmpty, placeholders[address.onAir] == peer else { return address }
        return latest[peer] ?? known[peer]?.address ?? address
    }

    /// Returns the last known address of `peer`; `nil` if nothing was ever received from the peer, or so long ago
    /// that the table has dropped it.
    mutating func address(of peer: PeerIdentifier) -> DeviceAddress? { latest[peer] ?? record(of: peer)?.address }

    /// Returns the best known name of `peer`; `nil` if none is known.
    mutating func name(of peer: PeerIdentifier) -> String? { record(of: peer)?.bestName }

    /// Returns the bond of `peer` with the current adapter; `nil` if there is none.
    func bond(with peer: PeerIdentifier) -> Bond? { known[peer]?.bond }

    /// Returns whether this address is the proved identity address of a bonded peer.
    func isProvedIdentity(_ address: DeviceAddress) -> Bool {
        known.identifier(at: address).flatMap { known[$0] }.map { $0.bond != nil && $0.provedIdentity != nil } ?? false
    }

    /// Returns the entries of the controller's resolving list for up to `limit` bonded peers with an IRK, most recently
    /// used first.
    ///
    /// From now on, the addresses in the entries identify these peers.
    mutating func resolvablePeers(limit: Int) -> [LocalPrivacy.ResolvablePeer] {
        placeholders = [:]
        for record in known.all where record.bond?.resolvingKey != nil && record.provedIdentity == nil {
            placeholders[record.listedAddress(secret: secret)] = record.identifier
        }
        changes += 1
        let known = known, secret = secret
        return Array(known.all.reversed().lazy.compactMap { known.resolvablePeer($0, secret: secret) }.prefix(limit))
    }

    /// Returns the entry for `peer` on the controller's resolving list; `nil` if the peer has no IRK of its own.
    func resolvablePeer(_ peer: PeerIdentifier) -> LocalPrivacy.ResolvablePeer? {
        known[peer].flatMap { known.resolvablePeer($0, secret: secret) }
    }

    /// Returns the services that clients have discovered on `peer` during the current or last connection.
    mutating func services(of peer: PeerIdentifier) -> [BluetoothUUID] { services[peer] ?? [] }

    /// Records the services that clients have discovered on `peer`.
    mutating func found(_ services: [BluetoothUUID], on peer: PeerIdentifier) {
        self.services[peer] = [BluetoothUUID](services.prefix(serviceLimit))
    }

    private mutating func record(of peer: PeerIdentifier) -> PeerRecord? {
        if let record = known[peer] { return record }
        return seen[peer].map {
            PeerRecord(identifier: peer, address: $0.address, name: $0.name, advertisedName: $0.advertisedName)
        }
    }

    /// The change of the stored records that new information about a peer requires.
    enum OnChange: Equatable {
        /// Store this record.
        case remember(PeerRecord)
        /// Store both records, the first one first. The bond in the first one was dropped to make room for the bond in
        /// the second.
        case replace(PeerRecord, with: PeerRecord)
        /// The record should be stored, but there is no room for it: all other records belong to bonded peers, or a
        /// limit for bonds has been reached.
        case full
        case nothing
    }

    /// A number that changes whenever ``noteAdvertisement(from:_:)`` may return another result for the same address and
    /// data.
    ///
    /// It also changes before the table can drop the peer that was looked up most recently.
    var revision: Int { changes + identifiers.generationNumber + seen.generationNumber }

    /// Returns the peer that advertises `octets` at `address`, and its best known name.
    ///
    /// If the octets contain a name, the table records the name; `change` says what the caller must do with the peer's
    /// stored record.
    mutating func noteAdvertisement(
        from address: DeviceAddress,
        _ octets: AdvertisementOctets
    ) -> (peer: PeerIdentifier, name: String?, change: OnChange) {
        let peer = identifier(of: address)
        let change = octets.localName.map { advertised($0, by: peer) } ?? .nothing
        return (peer, name(of: peer), change)
    }

    /// Records the name that `peer` advertises.
    mutating func advertised(_ name: String, by peer: PeerIdentifier) -> OnChange {
        change(peer) { $0.advertisedName = name }
    }

    /// Records the name that was read from the GAP service of `peer`.
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

    /// Records that a pairing with `peer` has succeeded.
    ///
    /// - Parameters:
    ///   - peer: The peer of the link.
    ///   - bond: The bond that the pairing has created.
    ///   - address: The over-the-air address of the peer.
    ///   - isInUse: True if another peer is connected at the identity address in the bond, or a client waits for a
    ///     connection to another peer at that address.
    /// - Returns: The bond to use, with only as much of the peer's identity as the peer has proved, and the required
    ///   change of the stored records.
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
        var record = record(of: peer) ?? PeerRecord(identifier: peer, address: address.onAir)
        // The stored private address may have been made with an old IRK; the new one resolves the current address.
        if record.provedIdentity == nil { record.address = address.onAir }
        record.bond = proved
        record.bond?.adapter = adapter
        let change = remember(record)
        return (known[peer]?.bond ?? proved, change)
    }

    /// Records a bond with a peer, or a change to the bond.
    mutating func bonded(_ peer: PeerIdentifier, _ bond: Bond) -> OnChange {
        guard var record = record(of: peer) else { return .nothing }
        let earlier = record.bond.flatMap { $0.isOfSamePairing(as: bond) ? $0.wantedBy : nil }
        record.bond = bond
        record.bond?.adapter = adapter
        record.bond?.wantedBy = max(earlier ?? bond.wantedBy, bond.wantedBy)
        return remember(record)
    }

    /// Returns whether there is room for a bond of this origin with `peer`, if necessary after dropping another bond.
    func hasRoom(forBondWith peer: PeerIdentifier, wantedBy bondOrigin: Bond.Origin) -> Bool {
        known.hasRoom(forBondWith: peer, wantedBy: bondOrigin)
    }

    /// Returns the bonded devices that an app may see, most recently used last.
    ///
    /// Before the first adapter is used, bonds with all adapters are included.
    func bonds(of owner: ClientOwner) -> [BondedPeer] {
        known.all.compactMap { record in
            let bond = adapter == nil ? record.bonds.last { $0.belongs(to: owner) } : record.bond
            guard let bond, bond.belongs(to: owner) else { return nil }
            return BondedPeer(
                peer: record.identifier,
                name: record.bestName,
                identity: known.identity(of: record, bond),
                strength: bond.strength
            )
        }
    }

    /// Removes a peer's bond with the current adapter or, if no adapter has been used yet, all of its bonds that the
    /// app of `owner` may see.
    mutating func unbonded(_ peer: PeerIdentifier, for owner: ClientOwner) -> OnChange {
        guard var record = known[peer] else { return .nothing }
        let before = record.bonds
        if adapter == nil { record.bonds.removeAll { $0.belongs(to: owner) } } else { record.bond = nil }
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
        // Without an IRK, the peer's last private address can no longer be attributed to it.
        if key == nil, record.provedIdentity != nil { latest[record.identifier] = nil }
        seen[record.identifier] = nil
        let kept = known[record.identifier] ?? record
        guard case .replaced(let other) = outcome else { return .remember(kept) }
        keyRevision += 1
        return .replace(other, with: kept)
    }

    /// Changes the names of a peer, and returns the required change of its stored record.
    ///
    /// A new advertised name does not need to be stored if the name in the GAP service is known.
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
