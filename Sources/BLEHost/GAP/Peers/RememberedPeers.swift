package import BLEWire

/// The peers that are remembered over a restart, those that were of use last at the end.
///
/// There is room for so many. Of those without a bond the one that was of use longest ago makes room for another; those
/// with a bond never do, since they could not be met again without pairing.
package struct RememberedPeers: Equatable, Sendable {
    /// For how many there is room.
    private let limit: Int
    private var kept: [PeerIdentifier: PeerRecord] = [:]
    private var identifiers: [DeviceAddress: PeerIdentifier] = [:]
    private var order: [PeerIdentifier] = []

    /// Creates the list that an earlier run left.
    ///
    /// Records with a bond are kept even if there are more than there is room for.
    package init(_ records: [PeerRecord] = [], limit: Int) {
        self.limit = limit
        var surplus = records.count - limit
        for record in records {
            guard surplus <= 0 || record.isBonded else {
                surplus -= 1
                continue
            }
            insert(record)
        }
    }

    package var count: Int { order.count }

    /// All of them, those that were of use last at the end.
    package var all: [PeerRecord] { order.compactMap { kept[$0] } }

    /// What is remembered of a peer.
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

    /// Whether this peer was of use after all others.
    package func isLatest(_ identifier: PeerIdentifier) -> Bool { order.last == identifier }

    package enum OnRemember: Equatable, Sendable {
        case remembered
        /// There is no room, for all the others have a bond.
        case refused
    }

    /// Puts a peer at the end, with this in place of what was remembered of it.
    package mutating func remember(_ record: PeerRecord) -> OnRemember {
        if kept[record.identifier] == nil, order.count >= limit {
            guard let idle = order.firstIndex(where: { kept[$0]?.isBonded != true }) else { return .refused }
            forget(order[idle])
        }
        insert(record)
        return .remembered
    }

    /// Changes what is kept of the bonds, from those that were of use longest ago to those that were so last.
    package mutating func updateBonds(_ body: (inout Bond) -> Void) {
        for identifier in order {
            guard var bonds = kept[identifier]?.bonds, !bonds.isEmpty else { continue }
            for index in bonds.indices { body(&bonds[index]) }
            kept[identifier]?.bonds = bonds
        }
    }

    /// Has the bonds with this adapter count, and no others.
    mutating func use(_ adapter: DeviceAddress) {
        for identifier in order { kept[identifier] = kept[identifier]?.seen(by: adapter) }
    }

    private mutating func insert(_ record: PeerRecord) {
        forget(record.identifier)
        kept[record.identifier] = record.withProvedIdentity
        identifiers[record.address.onAir] = record.identifier
        order.append(record.identifier)
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

    /// Whether the peer is bonded with any adapter.
    fileprivate var isBonded: Bool { bond != nil || !otherBonds.isEmpty }
}
