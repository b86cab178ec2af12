import BLEWire
import Testing

@testable import BLEHost

@Suite("Peer table")
struct PeerTableTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)

    func make(_ records: [PeerRecord] = []) -> PeerTable {
        var limits = Limits()
        (limits.advertisers, limits.knownPeers, limits.peerServices) = (8, 2, 3)
        return PeerTable(secret: 1, records: records, limits: limits)
    }

    @Test("An identity address and the same over-the-air address belong to one peer")
    func identity() {
        var table = make()
        let onAir = table.identifier(of: address)
        let resolved = table.identifier(of: DeviceAddress(address.value, .randomIdentity))
        let other = table.identifier(of: DeviceAddress(address.value, .public))
        #expect(onAir == resolved)
        #expect(onAir != other)
    }

    @Test("The name from the GAP service takes precedence over the advertised name")
    func names() {
        var table = make()
        let peer = table.identifier(of: address)
        let records = [
            table.advertised("short", by: peer), table.wanted(peer), table.advertised("other", by: peer),
            table.read("whole name", from: peer), table.advertised("third", by: peer),
        ]
        #expect(records.map(\.record?.bestName) == [nil, "short", "other", "whole name", nil])
        let name = table.name(of: peer)
        #expect(name == "whole name")
    }

    @Test("Bonds from another run of a virtual radio are dropped, and those of this run and of adapters are kept")
    func recall() {
        let radio = DeviceAddress(0xCAB1_E000_0001, .public), adapter = DeviceAddress(7, .public)
        func bond(_ address: DeviceAddress, on adapter: DeviceAddress) -> Bond {
            var bond = Bond(identity: address)
            bond.adapter = adapter
            return bond
        }
        let lamp = DeviceAddress(0xCAB1_E000_0002, .public), door = DeviceAddress(0xCAB1_E000_0003, .public)
        func record(_ number: UInt128, _ bonds: [Bond]) -> PeerRecord {
            var record = PeerRecord(identifier: PeerIdentifier(rawValue: number), address: bonds[0].identity)
            record.bonds = bonds
            return record
        }
        var table = make([record(1, [bond(lamp, on: radio), bond(lamp, on: adapter)])])
        table.load([record(2, [bond(door, on: radio)])], on: radio)
        table.use(radio)
        #expect(table.bond(with: PeerIdentifier(rawValue: 1)) == nil)
        #expect(table.bond(with: PeerIdentifier(rawValue: 2))?.identity == door)
        let found = table.identifier(of: door)
        #expect(found == PeerIdentifier(rawValue: 2))
        table.use(adapter)
        #expect(table.bond(with: PeerIdentifier(rawValue: 1))?.identity == lamp)
        #expect(table.bond(with: PeerIdentifier(rawValue: 2)) == nil)
    }

    @Test("The name from the GAP service stays, even if the same name was advertised first")
    func sameNames() {
        var table = make()
        let peer = table.identifier(of: address)
        _ = table.advertised("Tea", by: peer)
        _ = table.wanted(peer)
        #expect(table.read("Tea", from: peer).record?.name == "Tea")
        #expect(table.advertised("Coffee", by: peer) == .nothing)
        #expect(table.knownPeers.map(\.name) == ["Tea"])
    }

    @Test("A cached report equals the report that would be made now", arguments: 0..<16)
    func sighted(seed: UInt64) {
        var table = make(), twin = make(), random = SeededGenerator(seed: seed)
        var limits = Limits()
        (limits.advertisers, limits.waitingReports) = (8, 4)
        var discovery = Discovery(limits: limits), outbox = HostOutbox()
        discovery.start(ScanRequest(allowsDuplicates: true), for: ClientID(rawValue: 1))
        let addresses = (0..<12).map { DeviceAddress(0xC0FF_EE00_0000 + $0, .random) }
        for _ in 0..<2_000 {
            let address = addresses[Int.random(in: 0..<12, using: &random)]
            let letter = UInt8.random(in: 0x61...0x63, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: #expect(table.wanted(table.identifier(of: address)) == twin.wanted(twin.identifier(of: address)))
            case 1:
                let name = String(UnicodeScalar(letter)), peer = twin.identifier(of: address)
                #expect(table.read(name, from: table.identifier(of: address)) == twin.read(name, from: peer))
            case 2:
                let bond = Bond(identity: address, security: .encrypted, keySize: 16)
                let peer = twin.identifier(of: address)
                #expect(table.bonded(table.identifier(of: address), bond) == twin.bonded(peer, bond))
            case 3:
                let peer = twin.identifier(of: address)
                let change = table.unbonded(table.identifier(of: address), for: .program)
                #expect(change == twin.unbonded(peer, for: .program))
            default:
                let data: [UInt8] = letter == 0x63 ? [2, 1, 6] : [2, 9, letter]
                let advertisement = ReceivedAdvertisement(address: address)
                discovery.receive(advertisement, data.span, at: Instant(), with: &table, into: &outbox)
                var expected: [Host.Output] = []
                let peer = twin.identifier(of: address)
                let change = AdvertisingData(decoding: data).localName.map { twin.advertised($0, by: peer) }
                if case .remember(let record)? = change { expected.append(.remember(record)) }
                if case .full? = change { expected.append(.note(.limitReached(.knownPeers))) }
                let report = AdvertisementReport(
                    peer: peer,
                    address: address,
                    isConnectable: false,
                    rssi: .unavailable,
                    octets: AdvertisementOctets(advertisement: data),
                    name: twin.name(of: peer)
                )
                expected.append(.event(.discovered(report), for: ClientID(rawValue: 1)))
                var outputs: [Host.Output] = []
                while let output = outbox.next() { outputs.append(output) }
                #expect(outputs == expected)
            }
        }
    }

    @Test("Before an adapter is in use, bonds of all adapters are listed, and removed together with their peer")
    func withoutAdapter() {
        var record = PeerRecord(identifier: PeerIdentifier(rawValue: 5), address: address)
        record.bonds = (1...2).map {
            var bond = Bond(identity: address, security: .encrypted, keySize: 16)
            bond.adapter = DeviceAddress(UInt64($0), .public)
            return bond
        }
        var table = make([record])
        #expect(table.bonds(of: .program).map(\.peer) == [record.identifier])
        let change = table.unbonded(record.identifier, for: .program)
        #expect(change.record?.bonds == [])
        #expect(table.bonds(of: .program).isEmpty)
        #expect(table.unbonded(record.identifier, for: .program) == .nothing)
        table.use(DeviceAddress(1, .public))
        #expect(table.bonds(of: .program).isEmpty && table.bond(with: record.identifier) == nil)
    }

    @Test("A peer is found by its address, whatever its identifier was derived from")
    func otherSecret() {
        let record = PeerRecord(identifier: PeerIdentifier(rawValue: 5), address: address)
        var table = make([record])
        let peer = table.identifier(of: DeviceAddress(address.value, .randomIdentity))
        #expect(peer == record.identifier)
    }

    @Test("A name known only from advertising is replaced by the one advertised in another run")
    func restoredNames() {
        var table = make()
        let peer = table.identifier(of: address)
        _ = table.advertised("yesterday", by: peer)
        var restarted = make([table.wanted(peer)].compactMap(\.record))
        #expect(restarted.knownPeers.map(\.name) == ["yesterday"])
        _ = restarted.advertised("today", by: peer)
        #expect(restarted.knownPeers.map(\.name) == ["today"])
    }

    @Test("When there are too many peers, bonded ones and the most recently used others are kept")
    func bonds() {
        let addresses = (UInt64(1)...4).map { DeviceAddress($0, .random) }
        var table = make()
        let peers = addresses.map { table.identifier(of: $0) }
        _ = table.wanted(peers[0])
        _ = table.bonded(peers[0], Bond(identity: addresses[0]))
        for peer in peers[1...2] { _ = table.wanted(peer) }
        #expect(table.knownPeers.map(\.peer) == [peers[0], peers[2]])
        _ = table.bonded(peers[2], Bond(identity: addresses[2]))
        #expect(table.wanted(peers[3]) == .full)
        #expect(Set(table.knownPeers.map(\.peer)) == [peers[0], peers[2]])
    }

    @Test("A peer's most recently found services are kept, up to the limit")
    func services() {
        var table = make()
        let peer = table.identifier(of: address)
        table.found([.short(0x1800)], on: peer)
        _ = table.wanted(peer)
        var services = table.services(of: peer)
        #expect(services == [.short(0x1800)])
        table.found((0..<5).map { .short($0) }, on: peer)
        services = table.services(of: peer)
        #expect(services == [.short(0), .short(1), .short(2)])
        services = table.services(of: PeerIdentifier(rawValue: 1))
        #expect(services.isEmpty)
    }

    @Test("Peers that an app used are kept, and those that were only seen are dropped first")
    func bounds() {
        var table = make()
        let wanted = table.identifier(of: address)
        let change = table.wanted(wanted)
        #expect(change == .remember(PeerRecord(identifier: wanted, address: address)))
        #expect(table.wanted(wanted) == .nothing, "there is nothing new")
        let others = (UInt64(0)..<100).map { table.identifier(of: DeviceAddress($0, .random)) }
        let kept = table.address(of: wanted)
        #expect(kept == address)
        let remaining = others.filter { table.address(of: $0) != nil }
        #expect(remaining.count <= 8)
        #expect(table.knownPeers == [KnownPeer(peer: wanted)])
    }

    @Test("The most recently seen peers are listed as introductions, unless they are known peers")
    func strangers() {
        var limits = Limits()
        limits.introducedPeers = 3
        var table = PeerTable(secret: 1, records: [], limits: limits)
        let peers = (UInt64(0)..<5).map { table.identifier(of: DeviceAddress($0, .random)) }
        _ = table.identifier(of: DeviceAddress(0, .random))
        _ = table.advertised("Tea", by: peers[3])
        let last = [KnownPeer(peer: peers[2]), KnownPeer(peer: peers[3], name: "Tea"), KnownPeer(peer: peers[4])]
        #expect(table.recentUnknownPeers == last)
        _ = table.wanted(peers[4])
        #expect(table.recentUnknownPeers.map(\.peer) == [peers[2], peers[3]])
        #expect(table.knownPeers.map(\.peer) == [peers[4]])
    }

    @Test("The least recently used peer is dropped first")
    func knownLimit() {
        let records = (UInt64(0)..<3).map {
            PeerRecord(identifier: PeerIdentifier(rawValue: UInt128($0)), address: DeviceAddress($0, .random))
        }
        #expect(make(records).knownPeers.map(\.peer.rawValue) == [1, 2])
        var table = make(Array(records.prefix(2)))
        let peer = table.identifier(of: address)
        _ = table.wanted(peer)
        #expect(table.knownPeers.map(\.peer) == [records[1].identifier, peer])
        #expect(table.wanted(records[1].identifier) == .remember(records[1]))
        #expect(table.knownPeers.map(\.peer) == [peer, records[1].identifier])
    }
}

extension PeerTable.OnChange {
    fileprivate var record: PeerRecord? {
        if case .remember(let record) = self { record } else { nil }
    }
}

@Suite("Bounded storage")
struct BoundedStorageTests {
    @Test("A map never exceeds its capacity, and keeps the entries in use")
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

    @Test("A queue returns its elements in order", arguments: UInt64(0)..<16)
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

    @Test("A bond is valid only on the adapter on which it was made")
    func adapters() {
        let adapters = [DeviceAddress(0xA, .public), DeviceAddress(0xB, .public)]
        var table = PeerTable(secret: 1, records: [], limits: Limits())
        let address = DeviceAddress(1, .public), peer = table.identifier(of: address)
        for (number, adapter) in adapters.enumerated() {
            table.use(adapter)
            #expect(table.bond(with: peer) == nil && table.bonds(of: .program).isEmpty)
            let key = LongTermKey(key: Key128(wire: UInt128(number)))
            guard case .remember(let record) = table.bonded(peer, Bond(identity: address, longTermKey: key)) else {
                return #expect(Bool(false))
            }
            #expect(record.bonds.map(\.adapter) == Array(adapters[...number]))
        }
        table.use(adapters[0])
        #expect(table.bond(with: peer)?.longTermKey?.key == Key128(wire: 0))
        _ = table.unbonded(peer, for: .program)
        #expect(table.bond(with: peer) == nil)
        table.use(adapters[1])
        #expect(table.bond(with: peer)?.longTermKey?.key == Key128(wire: 1))
        #expect(table.identifier(of: address) == peer)
    }

    @Test("A bond with an unknown adapter is valid everywhere until its key is used on one")
    func unknownAdapter() {
        let bond = Bond(identity: DeviceAddress(1, .public), longTermKey: LongTermKey(key: Key128(wire: 7)))
        let peer = PeerIdentifier(rawValue: 5)
        let record = PeerRecord(identifier: peer, address: bond.identity, bond: bond)
        var table = PeerTable(secret: 1, records: [record], limits: Limits())
        table.use(DeviceAddress(0xA, .public))
        table.use(DeviceAddress(0xB, .public))
        #expect(table.bond(with: peer) == bond)
        _ = table.bonded(peer, bond)
        table.use(DeviceAddress(0xA, .public))
        #expect(table.bond(with: peer) == nil)
    }

    @Test("The number of adapters per peer with bonds is limited")
    func manyAdapters() {
        var table = PeerTable(secret: 1, records: [], limits: Limits())
        let address = DeviceAddress(1, .public), peer = table.identifier(of: address)
        for adapter in 1...40 {
            table.use(DeviceAddress(UInt64(adapter), .public))
            guard case .remember(let record) = table.bonded(peer, Bond(identity: address)) else {
                return #expect(Bool(false))
            }
            #expect(record.bonds.count <= PeerRecord.mostBonds)
            #expect(record.bond?.adapter?.value == UInt64(adapter))
        }
    }
}
