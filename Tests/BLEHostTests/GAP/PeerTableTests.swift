import BLEWire
import Testing

@testable import BLEHost

@Suite("Peer table")
struct PeerTableTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)

    func make(_ records: [PeerRecord] = []) -> PeerTable {
        var limits = Limits()
        (limits.sightings, limits.knownPeers) = (8, 2)
        return PeerTable(secret: 1, records: records, limits: limits)
    }

    @Test("An identity address and the same address on the air are one peer")
    func identity() {
        var table = make()
        let onAir = table.identifier(of: address)
        let resolved = table.identifier(of: DeviceAddress(address.value, .randomIdentity))
        let other = table.identifier(of: DeviceAddress(address.value, .public))
        #expect(onAir == resolved)
        #expect(onAir != other)
    }

    @Test("What the GAP service says wins over what is advertised")
    func names() {
        var table = make()
        let peer = table.identifier(of: address)
        let records = [
            table.advertised("short", by: peer), table.wanted(peer), table.advertised("other", by: peer),
            table.read("whole name", from: peer), table.advertised("third", by: peer),
        ]
        #expect(records.map { $0?.name } == [nil, "short", "other", "whole name", nil])
        let name = table.name(of: peer)
        #expect(name == "whole name")
    }

    @Test("Peers that were wanted are kept, those that were only seen give way")
    func bounds() {
        var table = make()
        let wanted = table.identifier(of: address)
        let record = table.wanted(wanted)
        #expect(record == PeerRecord(identifier: wanted, address: address))
        let others = (UInt64(0)..<100).map { table.identifier(of: DeviceAddress($0, .random)) }
        let kept = table.address(of: wanted)
        #expect(kept == address)
        let remaining = others.filter { table.address(of: $0) != nil }
        #expect(remaining.count <= 8)
        #expect(table.knownPeers == [KnownPeer(peer: wanted)])
    }

    @Test("The peer that was remembered first is forgotten first")
    func knownLimit() {
        let records = (UInt64(0)..<3).map {
            PeerRecord(identifier: PeerIdentifier(rawValue: UInt128($0)), address: DeviceAddress($0, .random))
        }
        #expect(make(records).knownPeers.map(\.peer.rawValue) == [1, 2])
        var table = make(Array(records.prefix(2)))
        let peer = table.identifier(of: address)
        _ = table.wanted(peer)
        #expect(table.knownPeers.map(\.peer) == [records[1].identifier, peer])
    }
}

@Suite("Bounded storage")
struct BoundedStorageTests {
    @Test("A map never holds more than its capacity, and keeps what is used")
    func map() {
        var map = BoundedMap<Int, Int>(capacity: 10)
        for key in 0..<1_000 {
            map[key] = key
            let first = map[0]
            #expect(first == 0)
        }
        #expect((0..<1_000).filter { map.peek($0) != nil }.count <= 10)
        map[0] = nil
        #expect(map.peek(0) == nil)
    }

    @Test("A queue gives back what it was given, in order", arguments: UInt64(0)..<16)
    func fifo(seed: UInt64) {
        var random = SeededGenerator(seed: seed), fifo = Fifo<Int>(), given = 0, taken = 0
        for _ in 0..<5_000 {
            if Bool.random(using: &random) {
                fifo.append(given)
                given += 1
            } else if let value = fifo.popFirst() {
                #expect(value == taken)
                taken += 1
            } else {
                #expect(given == taken)
            }
            #expect(fifo.count == given - taken)
            #expect(fifo.isEmpty == (given == taken))
        }
    }
}
