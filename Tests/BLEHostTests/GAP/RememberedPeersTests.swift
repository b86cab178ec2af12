import BLEHost
import BLEWire
import Testing

@Suite("Remembered peers")
struct RememberedPeersTests {
    private static func record(_ number: UInt64, isBonded: Bool = false) -> PeerRecord {
        let address = DeviceAddress(number, .public)
        return PeerRecord(
            identifier: PeerIdentifier(rawValue: UInt128(number)),
            address: address,
            bond: isBonded ? Bond(identity: address) : nil
        )
    }

    private static func numbers(_ peers: RememberedPeers) -> [UInt64] { peers.all.map(\.address.value) }

    @Test("Who is remembered again comes to the end, and has what was remembered last")
    func order() {
        var peers = RememberedPeers((1...3).map { Self.record($0) }, limit: 8)
        var renamed = Self.record(1)
        renamed.name = "Tea"
        #expect(!peers.isLatest(renamed.identifier))
        #expect(peers.remember(renamed) == .remembered)
        #expect(peers.isLatest(renamed.identifier))
        #expect(Self.numbers(peers) == [2, 3, 1])
        #expect(peers[renamed.identifier] == renamed)
        #expect(peers.count == 3)
    }

    @Test("Who has no bond makes room, the one that was of use longest ago first; who has one never does")
    func limit() {
        var peers = RememberedPeers([Self.record(1, isBonded: true), Self.record(2), Self.record(3)], limit: 3)
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

    @Test("Of too many that an earlier run left those with a bond stay, and those that were of use last")
    func surplus() {
        let records = (1...6).map { Self.record($0, isBonded: $0 % 2 == 1) }
        #expect(Self.numbers(RememberedPeers(records, limit: 4)) == [1, 3, 5, 6])
        #expect(Self.numbers(RememberedPeers(records, limit: 2)) == [1, 3, 5])
    }

    @Test("A peer is found by its address, as it is on the air")
    func addresses() {
        var peers = RememberedPeers([Self.record(1)], limit: 2)
        #expect(peers.identifier(at: DeviceAddress(1, .publicIdentity)) == PeerIdentifier(rawValue: 1))
        #expect(peers.identifier(at: DeviceAddress(1, .random)) == nil)
        var moved = Self.record(1)
        moved.address = DeviceAddress(9, .random)
        _ = peers.remember(moved)
        #expect(peers.identifier(at: DeviceAddress(1, .public)) == nil)
        #expect(peers.identifier(at: DeviceAddress(9, .random)) == moved.identifier)
    }
}
