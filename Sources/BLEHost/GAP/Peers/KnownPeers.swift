package import BLEWire

/// The peers that are stored across restarts, most recently used last.
///
/// There is room for so many. Of those without a bond the one that was of use longest ago makes room for another; those
/// with a bond do not, since they could not be met again without pairing, unless only the peer wanted the bond
/// (``Bond/Origin/peer``). There is a limit for such bonds, and one for all bonds that the user did not ask for.
package struct KnownPeers: Equatable, Sendable {
    /// The capacity.
    private let limit: Int
    /// How many bonds there may be that only the peer wanted, and how many that the user did not ask for.
    private let unattendedLimit: Int, unaskedLimit: Int
    private var kept: [PeerIdentifier: PeerRecord] = [:]
    private var identifiers: [DeviceAddress: PeerIdentifier] = [:]
    private var order: [PeerIdentifier] = []

    /// Creates the list from the records of an earlier run.
    ///
    /// Bonded peers are kept even if they exceed the capacity.
    ///
    /// - Parameters:
    ///   - records: The peers, those that were of use last at the end.
    ///   - limit: For how many there is room.
    ///   - unattended: How many bonds there may be that only the peer wanted; at most half of `limit` counts.
    ///   - unasked: How many there may be that the user did not ask for; at most three quarters of `limit` count.
    package init(
        _ records: [PeerRecord] = [],
        limit: Int,
        unattended: Int = Limits().unattendedBonds,
        unasked: Int = Limits().bondsWithoutUser
    ) {
        self.limit = limit
        unattendedLimit = min(unattended, limit / 2)
        unaskedLimit = min(unasked, limit - limit / 4)
        var surplus = records.count - limit
        for record in records {
            guard surplus <= 0 || record.isBonded else {
                surplus -= 1
                continue
            }
            insert(record)
        }
    }

    /// Creates the list that an earlier run left, with room for as many as `limits` say.
    package init(_ records: [PeerRecord] = [], limits: Limits) {
        self.init(
            records,
            limit: limits.knownPeers,
            unattended: limits.unattendedBonds,
            unasked: limits.bondsWithoutUser
        )
    }

    package var count: Int { order.count }

    /// All records, most recently used last.
    package var all: [PeerRecord] { order.compactMap { kept[$0] } }

    /// The record of a peer.
    package subscript(identifier: PeerIdentifier) -> PeerRecord? { kept[identifier] }

    /// The peer that was reached at `address`.
    package func identifier(at address: DeviceAddress) -> PeerIdentifier? { identifiers[address.onAir] }

    /// The only peer with such a bond; `nil` if there is none, or more than one.
    func only(withBond isWanted: (Bond) -> Bool) -> PeerIdentifier? {
        var found: PeerIdentifier?
        for identifier in order where kept[identifier]?.bond.map(isWanted) ?? false {
            if found != nil { return nil }
            found = identifier
        }
        return found
    }

    /// The record that was of use longest ago among those that are wanted.
    func first(where isWanted: (PeerRecord) -> Bool) -> PeerRecord? {
        for identifier in order {
            if let record = kept[identifier], isWanted(record) { return record }
        }
        return nil
    }

    /// Returns whether this peer was used last.
    package func isLatest(_ identifier: PeerIdentifier) -> Bool { order.last == identifier }

    package enum OnRemember: Equatable, Sendable {
        case remembered
        /// There is no room, because all others are bonded.
        case refused
        /// The bond with another peer has given way: this is remembered of that one.
        case replaced(PeerRecord)
    }

    /// Stores a record, as the most recently used one.
    package mutating func remember(_ record: PeerRecord) -> OnRemember {
        let isNewBond = record.isBonded && kept[record.identifier]?.isBonded != true
        guard isNewBond, let party = record.party else { return insertIfThereIsRoom(record) }
        guard !isFull(for: party) || yielding != nil else { return .refused }
        var gone: PeerRecord?
        if isFull(for: party) { gone = endYielding() }
        if insertIfThereIsRoom(record) == .refused {
            gone = endYielding()
            guard gone != nil, insertIfThereIsRoom(record) == .remembered else { return .refused }
        }
        return gone.map { .replaced($0) } ?? .remembered
    }

    /// Returns whether there is room for a bond with a peer that this party wants, if need be in place of another bond.
    package func hasRoom(forBondWith peer: PeerIdentifier, wantedBy party: Bond.Origin) -> Bool {
        if kept[peer]?.isBonded == true || yielding != nil { return true }
        let isIdle = kept[peer] != nil || order.count < limit || order.contains { kept[$0]?.isBonded != true }
        return isIdle && !isFull(for: party)
    }

    private mutating func insertIfThereIsRoom(_ record: PeerRecord) -> OnRemember {
        if kept[record.identifier] == nil, order.count >= limit {
            guard let idle = order.firstIndex(where: { kept[$0]?.isBonded != true }) else { return .refused }
            forget(order[idle])
        }
        insert(record)
        return .remembered
    }

    /// Returns whether there are as many bonds as there may be of those that this party wants.
    private func isFull(for party: Bond.Origin) -> Bool {
        func count(_ isCounted: (Bond.Origin) -> Bool) -> Int {
            order.count { kept[$0]?.party.map(isCounted) ?? false }
        }
        return switch party {
        case .user: false
        case .app: count { $0 < .user } >= unaskedLimit
        case .peer: count { $0 < .user } >= unaskedLimit || count { $0 == .peer } >= unattendedLimit
        }
    }

    /// The peer whose bond gives way to another one.
    private var yielding: PeerIdentifier? { order.first { kept[$0]?.party == .peer } }

    /// Ends the bond that gives way, and returns what is remembered of its peer.
    private mutating func endYielding() -> PeerRecord? {
        guard let peer = yielding, var record = kept[peer], let index = order.firstIndex(of: peer) else { return nil }
        record.bonds = []
        forget(peer)
        insert(record, at: index)
        return record
    }

    /// Changes the bonds, from the least to the most recently used.
    package mutating func updateBonds(_ body: (inout Bond) -> Void) {
        for identifier in order {
            guard var bonds = kept[identifier]?.bonds, !bonds.isEmpty else { continue }
            for index in bonds.indices { body(&bonds[index]) }
            kept[identifier]?.bonds = bonds
        }
    }

    /// Uses the bonds with this adapter, and no others.
    mutating func use(_ adapter: DeviceAddress) {
        for identifier in order { kept[identifier] = kept[identifier]?.seen(by: adapter) }
    }

    private mutating func insert(_ record: PeerRecord) {
        forget(record.identifier)
        insert(record, at: order.endIndex)
    }

    private mutating func insert(_ record: PeerRecord, at index: Int) {
        kept[record.identifier] = record.withProvedIdentity
        identifiers[record.address.onAir] = record.identifier
        order.insert(record.identifier, at: index)
    }

    private mutating func forget(_ identifier: PeerIdentifier) {
        guard let record = kept.removeValue(forKey: identifier) else { return }
        if identifiers[record.address.onAir] == identifier { identifiers[record.address.onAir] = nil }
        if let index = order.lastIndex(of: identifier) { order.remove(at: index) }
    }
}

extension PeerRecord {
    /// The record without identity addresses that the peer has not proved: it keeps another address.
    ///
    /// Earlier versions stored what a peer said of itself.
    fileprivate var withProvedIdentity: Self {
        guard let provedIdentity, bonds.contains(where: { $0.identity.onAir != provedIdentity }) else { return self }
        var record = self
        record.bond?.identity = provedIdentity
        for index in record.otherBonds.indices { record.otherBonds[index].identity = provedIdentity }
        return record
    }

    /// Who wanted the bonds with the peer; `nil` if it has none.
    fileprivate var party: Bond.Origin? { bonds.map(\.wantedBy).max() }

    /// True if the peer is bonded with any adapter.
    fileprivate var isBonded: Bool { bond != nil || !otherBonds.isEmpty }
}
