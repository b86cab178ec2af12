import BLEHost
import BLEWire
import Testing

@Suite("Known peers")
struct KnownPeersTests {
    private static func record(_ number: UInt64, isBonded: Bool = false) -> PeerRecord {
        record(number, isBonded ? .user : nil)
    }

    /// A peer with a bond that this party wants, or with none.
    private static func record(_ number: UInt64, _ party: Bond.Origin?) -> PeerRecord {
        let address = DeviceAddress(number, .public)
        var record = PeerRecord(identifier: PeerIdentifier(rawValue: UInt128(number)), address: address)
        record.bond = party == nil ? nil : Bond(identity: address)
        if let party { record.bond?.wantedBy = party }
        return record
    }

    /// Which of them have a bond, in ascending order.
    private static func bonded(_ peers: KnownPeers) -> [UInt64] {
        peers.all.filter { $0.bond != nil }.map(\.address.value).sorted()
    }

    private static func numbers(_ peers: KnownPeers) -> [UInt64] { peers.all.map(\.address.value) }

    @Test("A peer that is stored again moves to the end, with its latest record")
    func order() {
        var peers = KnownPeers((1...3).map { Self.record($0) }, limit: 8)
        var renamed = Self.record(1)
        renamed.name = "Tea"
        #expect(!peers.isLatest(renamed.identifier))
        #expect(peers.remember(renamed) == .remembered)
        #expect(peers.isLatest(renamed.identifier))
        #expect(Self.numbers(peers) == [2, 3, 1])
        #expect(peers[renamed.identifier] == renamed)
        #expect(peers.count == 3)
    }

    @Test("The least recently used peer without a bond makes room, and bonded peers are never removed")
    func limit() {
        var peers = KnownPeers([Self.record(1, isBonded: true), Self.record(2), Self.record(3)], limit: 3)
        #expect(peers.remember(Self.record(4)) == .remembered)
        #expect(Self.numbers(peers) == [1, 3, 4])
        #expect(peers.identifier(at: DeviceAddress(2, .public)) == nil)
        #expect(peers.remember(Self.record(5, isBonded: true)) == .remembered)
        #expect(peers.remember(Self.record(4, isBonded: true)) == .remembered)
        #expect(Self.numbers(peers) == [1, 5, 4])
        #expect(peers.remember(Self.record(6, isBonded: true)) == .refused)
        #expect(peers.remember(Self.record(5)) == .remembered)
        #expect(peers.remember(Self.record(6, isBonded: true)) == .remembered)
        #expect(Self.numbers(peers) == [1, 4, 6])
    }

    @Test("From too many stored peers, bonded and most recently used ones are kept")
    func surplus() {
        let records = (1...6).map { Self.record($0, isBonded: $0 % 2 == 1) }
        #expect(Self.numbers(KnownPeers(records, limit: 4)) == [1, 3, 5, 6])
        #expect(Self.numbers(KnownPeers(records, limit: 2)) == [1, 3, 5])
    }

    @Test("Bonds initiated by peers replace each other, and never fill the table")
    func unattended() {
        var peers = KnownPeers(limit: 8, unattended: 3)
        #expect(peers.remember(Self.record(1, .user)) == .remembered)
        for number in UInt64(2)...4 { #expect(peers.remember(Self.record(number, .peer)) == .remembered) }
        for number in UInt64(5)...2_000 {
            #expect(peers.remember(Self.record(number, .peer)) == .replaced(Self.record(number - 3, nil)))
        }
        #expect(Self.bonded(peers) == [1, 1_998, 1_999, 2_000])
        #expect(peers.count <= 8)
        #expect(peers.remember(Self.record(3_000, .user)) == .remembered)
        #expect(Self.bonded(peers) == [1, 1_998, 1_999, 2_000, 3_000])
    }

    @Test("The least recently used bond initiated by a peer is replaced")
    func leastRecentlyUsed() {
        var peers = KnownPeers(limit: 8, unattended: 2)
        _ = peers.remember(Self.record(1, .peer))
        _ = peers.remember(Self.record(2, .peer))
        #expect(peers.remember(Self.record(1, .peer)) == .remembered)
        #expect(peers.remember(Self.record(3, .peer)) == .replaced(Self.record(2, nil)))
        #expect(Self.bonded(peers) == [1, 3])
    }

    @Test("A bond that an app has used is not replaced, and such bonds leave room for the user's")
    func used() {
        var peers = KnownPeers(limit: 8)
        for number in UInt64(1)...6 { #expect(peers.remember(Self.record(number, .app)) == .remembered) }
        for party in [Bond.Origin.app, .peer] {
            #expect(!peers.hasRoom(forBondWith: PeerIdentifier(rawValue: 7), wantedBy: party))
            #expect(peers.remember(Self.record(7, party)) == .refused)
        }
        #expect(peers.hasRoom(forBondWith: PeerIdentifier(rawValue: 1), wantedBy: .peer))
        for number in UInt64(8)...9 {
            #expect(peers.hasRoom(forBondWith: PeerIdentifier(rawValue: UInt128(number)), wantedBy: .user))
            #expect(peers.remember(Self.record(number, .user)) == .remembered)
        }
        #expect(!peers.hasRoom(forBondWith: PeerIdentifier(rawValue: 10), wantedBy: .user))
        #expect(peers.remember(Self.record(10, .user)) == .refused)
        #expect(Self.bonded(peers) == [1, 2, 3, 4, 5, 6, 8, 9])
    }

    @Test(
        "A bond initiated by a peer makes room for bonds of apps and of the user",
        arguments: [Bond.Origin.app, .user]
    )
    func displaced(party: Bond.Origin) {
        var peers = KnownPeers(limit: 4)
        _ = peers.remember(Self.record(1, .peer))
        for number in UInt64(2)...4 { _ = peers.remember(Self.record(number, .user)) }
        #expect(peers.hasRoom(forBondWith: PeerIdentifier(rawValue: 5), wantedBy: party))
        #expect(peers.remember(Self.record(5, party)) == .replaced(Self.record(1, nil)))
        #expect(Self.bonded(peers) == [2, 3, 4, 5])
    }

    @Test("The default limits leave a quarter of the table for the user's bonds")
    func standard() {
        let limits = Limits()
        var peers = KnownPeers(limits: limits)
        for number in 0..<UInt64(limits.knownPeers + 100) {
            _ = peers.remember(Self.record(number, number % 4 == 0 ? .peer : .app))
        }
        #expect(Self.bonded(peers).count == limits.knownPeers - limits.knownPeers / 4)
        for number in 0..<UInt64(limits.knownPeers / 4) {
            #expect(peers.remember(Self.record(10_000 + number, .user)) != .refused)
        }
    }

    @Test("A peer is found by its over-the-air address")
    func addresses() {
        var peers = KnownPeers([Self.record(1)], limit: 2)
        #expect(peers.identifier(at: DeviceAddress(1, .publicIdentity)) == PeerIdentifier(rawValue: 1))
        #expect(peers.identifier(at: DeviceAddress(1, .random)) == nil)
        var moved = Self.record(1)
        moved.address = DeviceAddress(9, .random)
        _ = peers.remember(moved)
        #expect(peers.identifier(at: DeviceAddress(1, .public)) == nil)
        #expect(peers.identifier(at: DeviceAddress(9, .random)) == moved.identifier)
    }
}
