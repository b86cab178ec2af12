package import BLEWire

/// The peers that are stored across restarts, most recently used last.
///
/// The number of peers is limited. When a new peer needs room, the least recently used peer without a bond is dropped.
/// Bonds are kept, because without the bond the host and the peer would have to pair again. Bonds that only the peer
/// wanted (``Bond/Origin/peer``) are an exception: the least recently used of them is dropped for a new bond. There is
/// one limit on the number of such bonds, and another on the number of all bonds that the user did not request.
package struct KnownPeers: Equatable, Sendable {
    /// The maximum number of peers.
    private let limit: Int
    /// The maximum number of bonds that only the peer wanted, and the maximum number of bonds that the user did not
    /// request.
    private let unattendedLimit: Int, unaskedLimit: Int
    private var recordByPeer: [PeerIdentifier: PeerRecord] = [:]
    private var identifiers: [DeviceAddress: PeerIdentifier] = [:]
    private var order: [PeerIdentifier] = []

    /// Creates the list from the records of an earlier run.
    ///
    /// Bonded peers are kept even if they exceed the limit.
    ///
    /// - Parameters:
    ///   - records: The records of the peers, most recently used last.
    ///   - limit: The maximum number of peers.
    ///   - unattended: The maximum number of bonds that only the peer wanted. It is capped at half of `limit`.
    ///   - unasked: The maximum number of bonds that the user did not request. It is capped at three quarters of
    ///     `limit`.
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

    /// Creates the list from the records of an earlier run, with the limits of the configuration.
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
    package var all: [PeerRecord] { order.compactMap { recordByPeer[$0] } }

    /// The record of a peer; `nil` if it is not stored.
    package subscript(identifier: PeerIdentifier) -> PeerRecord? { recordByPeer[identifier] }

    /// Returns the peer that was reached at `address`; `nil` if there is none.
    package func identifier(at address: DeviceAddress) -> PeerIdentifier? { identifiers[address.onAir] }

    /// Returns the only peer whose bond with the current adapter satisfies `isWanted`; `nil` if there is none or more
    /// than one.
    func only(withBond isWanted: (Bond) -> Bool) -> PeerIdentifier? {
        var found: PeerIdentifier?
        for identifier in order where recordByPeer[identifier]?.bond.map(isWanted) ?? false {
            if found != nil { return nil }
            found = identifier
        }
        return found
    }

    /// Returns the least recently used record that satisfies `isWanted`; `nil` if there is none.
    func first(where isWanted: (PeerRecord) -> Bool) -> PeerRecord? {
        for identifier in order {
            if let record = recordByPeer[identifier], isWanted(record) { return record }
        }
        return nil
    }

    /// Returns whether the peer with `identifier` is the most recently used one.
    package func isLatest(_ identifier: PeerIdentifier) -> Bool { order.last == identifier }

    package enum OnRemember: Equatable, Sendable {
        case remembered
        /// There is no room, because no other record or bond can be dropped.
        case refused
        /// The record was stored, and the bond with another peer was dropped for it. The associated value is the new
        /// record of the peer that lost its bond.
        case replaced(PeerRecord)
    }

    /// Stores a record as the most recently used one, if there is room for it.
    package mutating func remember(_ record: PeerRecord) -> OnRemember {
        let isNewBond = record.isBonded && recordByPeer[record.identifier]?.isBonded != true
        guard isNewBond, let bondOrigin = record.bondOrigin else { return insertIfThereIsRoom(record) }
        guard !isFull(for: bondOrigin) || bondToDrop != nil else { return .refused }
        var gone: PeerRecord?
        if isFull(for: bondOrigin) { gone = dropBond() }
        if insertIfThereIsRoom(record) == .refused {
            gone = dropBond()
            guard gone != nil, insertIfThereIsRoom(record) == .remembered else { return .refused }
        }
        return gone.map { .replaced($0) } ?? .remembered
    }

    /// Returns whether there is room for a bond of this origin with `peer`, if necessary after dropping another bond.
    package func hasRoom(forBondWith peer: PeerIdentifier, wantedBy bondOrigin: Bond.Origin) -> Bool {
        if recordByPeer[peer]?.isBonded == true || bondToDrop != nil { return true }
        let isIdle =
            recordByPeer[peer] != nil || order.count < limit || order.contains { recordByPeer[$0]?.isBonded != true }
        return isIdle && !isFull(for: bondOrigin)
    }

    private mutating func insertIfThereIsRoom(_ record: PeerRecord) -> OnRemember {
        if recordByPeer[record.identifier] == nil, order.count >= limit {
            guard let idle = order.firstIndex(where: { recordByPeer[$0]?.isBonded != true }) else { return .refused }
            forget(order[idle])
        }
        insert(record)
        return .remembered
    }

    /// Returns whether a limit that applies to new bonds of this origin has been reached.
    private func isFull(for bondOrigin: Bond.Origin) -> Bool {
        func count(_ isCounted: (Bond.Origin) -> Bool) -> Int {
            order.count { recordByPeer[$0]?.bondOrigin.map(isCounted) ?? false }
        }
        return switch bondOrigin {
        case .user: false
        case .app: count { $0 < .user } >= unaskedLimit
        case .peer: count { $0 < .user } >= unaskedLimit || count { $0 == .peer } >= unattendedLimit
        }
    }

    /// The peer whose bond is dropped next when a new bond needs room; `nil` if no bond may be dropped.
    private var bondToDrop: PeerIdentifier? { order.first { recordByPeer[$0]?.bondOrigin == .peer } }

    /// Drops the bonds of the peer ``bondToDrop``, and returns the peer's new record; `nil` if no bond may be dropped.
    private mutating func dropBond() -> PeerRecord? {
        guard let peer = bondToDrop, var record = recordByPeer[peer], let index = order.firstIndex(of: peer) else {
            return nil
        }
        record.bonds = []
        forget(peer)
        insert(record, at: index)
        return record
    }

    /// Calls `body` with each bond, starting with those of the least recently used peer.
    package mutating func updateBonds(_ body: (inout Bond) -> Void) {
        for identifier in order {
            guard var bonds = recordByPeer[identifier]?.bonds, !bonds.isEmpty else { continue }
            for index in bonds.indices { body(&bonds[index]) }
            recordByPeer[identifier]?.bonds = bonds
        }
    }

    /// Makes the bonds with this adapter the current ones.
    mutating func use(_ adapter: DeviceAddress) {
        for identifier in order { recordByPeer[identifier] = recordByPeer[identifier]?.selectingBond(for: adapter) }
    }

    private mutating func insert(_ record: PeerRecord) {
        forget(record.identifier)
        insert(record, at: order.endIndex)
    }

    private mutating func insert(_ record: PeerRecord, at index: Int) {
        recordByPeer[record.identifier] = record.withProvedIdentity
        identifiers[record.address.onAir] = record.identifier
        order.insert(record.identifier, at: index)
    }

    private mutating func forget(_ identifier: PeerIdentifier) {
        guard let record = recordByPeer.removeValue(forKey: identifier) else { return }
        if identifiers[record.address.onAir] == identifier { identifiers[record.address.onAir] = nil }
        if let index = order.lastIndex(of: identifier) { order.remove(at: index) }
    }
}

extension PeerRecord {
    /// This record, with the proved identity address in all bonds; unchanged if the peer has proved none.
    ///
    /// Earlier versions of this software also stored identity addresses that a peer had sent but not proved.
    fileprivate var withProvedIdentity: Self {
        guard let provedIdentity, bonds.contains(where: { $0.identity.onAir != provedIdentity }) else { return self }
        var record = self
        record.bond?.identity = provedIdentity
        for index in record.otherBonds.indices { record.otherBonds[index].identity = provedIdentity }
        return record
    }

    /// The party that wanted the bonds with the peer, the most important one if there are several; `nil` if the peer
    /// has no bonds.
    fileprivate var bondOrigin: Bond.Origin? { bonds.map(\.wantedBy).max() }

    /// True if the peer is bonded with any adapter.
    fileprivate var isBonded: Bool { bond != nil || !otherBonds.isEmpty }
}
