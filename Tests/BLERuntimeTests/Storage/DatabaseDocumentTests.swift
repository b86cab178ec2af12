import BLEHost
import BLEWire
import FoundationEssentials
import Testing

@testable import BLERuntime

@Suite("Cached databases in the state file")
struct DatabaseDocumentTests {
    /// A bonded peer of which this is known.
    static func record(_ number: UInt64, _ database: CachedDatabase?) -> PeerRecord {
        let address = DeviceAddress(number, .public)
        var bond = Bond(identity: address)
        bond.database = database
        return PeerRecord(identifier: PeerIdentifier(rawValue: UInt128(number)), address: address, bond: bond)
    }

    /// Something that could be known of a peer with as many attributes.
    static func database(of count: Int, seed: UInt64) -> CachedDatabase? {
        var random = SampleRandom(state: seed)
        func uuid() -> BluetoothUUID {
            random.next(4) == 0 ? .full(UInt128(random.next(1 << 30)) << 90 | 1) : .short(UInt16(random.next(1 << 16)))
        }
        var services: [DiscoveredService] = [], includes: [KnownAttributes.Include] = []
        var declarations: [KnownAttributes.Declaration] = [], types: [DiscoveredDescriptor] = []
        var status = KnownAttributes.Status(), next: UInt16 = 1
        while types.count < count {
            let start = AttributeHandle(wire: next), value = AttributeHandle(wire: next + 2)
            let include = AttributeHandle(wire: next + 1 + UInt16(random.next(2)))
            let end = AttributeHandle(wire: next + 3 + UInt16(random.next(9)))
            guard let range = AttributeHandleRange(start, end) else { break }
            services.append(DiscoveredService(uuid: uuid(), range: range, isPrimary: true))
            includes.append(.init(handle: include, range: range, uuid: random.next(2) == 0 ? nil : uuid()))
            declarations.append(
                .init(handle: start, properties: UInt8(random.next(256)), value: value, uuid: uuid())
            )
            types += [DiscoveredDescriptor(uuid: uuid(), handle: start), .init(uuid: uuid(), handle: end)]
            for aspect in KnownAttributes.Aspect.allCases where random.next(3) > 0 {
                status.update(aspect, in: range) { $0.learn() }
            }
            next = end.wire + 1 + UInt16(random.next(3))
        }
        return KnownAttributes(
            services: services,
            includes: includes,
            declarations: declarations,
            types: types,
            status: status
        ).map { CachedDatabase(hash: UInt128(seed) << 64 | 5, attributes: $0) }
    }

    @Test("A stored database is read back", arguments: 0..<16)
    func persists(seed: UInt64) throws {
        let records = (1...3).map { Self.record($0, Self.database(of: 400, seed: seed * 3 + $0)) }
        #expect(records.allSatisfy { $0.bond?.database != nil })
        try StateFileTests.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for record in records { file.remember(record) }
            file.flush()
            #expect(StateFile(path: path, freshSecret: 8).peers == records)
        }
    }

    @Test(
        "A malformed database is lost, and nothing else",
        arguments: [
            ("\"hash\" : \"5\"", "\"hash\" : \"x\""), ("\"hash\" : \"5\"", "\"hash\" : 5"),
            ("\"hash\" : \"5\"", "\"trash\" : 5"), ("0001-0009 1800", "0009-0001 1800"),
            ("0001-0009 1800", "0000-0009 1800"), ("0001-0009 1800", "0001-0010 1800"),
            ("0001-0009 1800", "0001-0009"), ("0001-0009 1800", "0001-0009 18"), ("0001-0009 1800", ""),
            ("0001-0009 1800", "0001-00091-0002 1800"), ("0001-0009 1800", "1-FFFFF 1800"),
            ("0003 0010-0019", "0000 0010-0019"), ("0003 0010-0019", "0003 0010-0019 1 2"),
            ("0003 0010-0019", "0003 0010-0019 -"), ("0004 0002 0005 2A00", "0005 0002 0004 2A00"),
            ("0004 0002 0005 2A00", "0004 0100 0005 2A00"), ("0004 0002 0005 2A00", "0004 0002 0000 2A00"),
            ("0006 2901", "0006 2901 2902"), ("0006 2901", "0000 2901"), ("0006 2901", "0005 2901"),
            ("\"0001-FFFF\"", "\"0001\""), ("\"0001-FFFF\"", "{}"), ("\"0001-FFFF\"", "null"),
        ]
    )
    func malformed(part: String, other: String) throws {
        let short = { (number: UInt16) in BluetoothUUID.short(number) }
        let handle = { (number: UInt16) in AttributeHandle(wire: number) }
        let place = try #require(AttributeHandleRange(handle(1), handle(9)))
        let behind = try #require(AttributeHandleRange(handle(0x10), handle(0x19)))
        var status = KnownAttributes.Status()
        status.update(.services, in: .all) { $0.learn() }
        let attributes = try #require(
            KnownAttributes(
                services: [
                    DiscoveredService(uuid: short(0x1800), range: place, isPrimary: true),
                    DiscoveredService(uuid: short(0x1801), range: behind, isPrimary: true),
                ],
                includes: [.init(handle: handle(3), range: behind, uuid: nil)],
                declarations: [.init(handle: handle(4), properties: 2, value: handle(5), uuid: short(0x2A00))],
                types: [.init(uuid: short(0x2A00), handle: handle(5)), .init(uuid: short(0x2901), handle: handle(6))],
                status: status
            )
        )
        let records = [Self.record(3, CachedDatabase(hash: 5, attributes: attributes)), StateFileTests.tea]
        try StateFileTests.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for record in records { file.remember(record) }
            file.flush()
            #expect(StateFile(path: path, freshSecret: 8).peers == records)
            let text = try String(contentsOfFile: path, encoding: .utf8), parts = text.split(separator: part)
            try #require(parts.count == 2, "the file has the part once")
            try Data(parts.joined(separator: other).utf8).write(to: URL(filePath: path))
            let left = StateFile(path: path, freshSecret: 8)
            #expect(left.secret == 7)
            #expect(left.peers == [Self.record(3, nil), StateFileTests.tea])
        }
    }

    @Test("A file with random changes is read or set aside", arguments: 0..<16)
    func damaged(seed: UInt64) throws {
        var random = SampleRandom(state: seed)
        let record = Self.record(1, Self.database(of: 30, seed: seed))
        try StateFileTests.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            file.remember(record)
            file.flush()
            let octets = [UInt8](try Data(contentsOf: URL(filePath: path)))
            for _ in 0..<50 {
                var damaged = octets
                for _ in 0...random.next(3) { damaged[random.next(octets.count)] = UInt8(random.next(256)) }
                try Data(damaged).write(to: URL(filePath: path))
                #expect(StateFile(path: path, freshSecret: 8).peers.count <= 1)
            }
        }
    }

    @Test("When databases do not fit, the most recently used peers keep theirs, and all keep their bonds")
    func bounded() throws {
        let database = try #require(Self.database(of: 1000, seed: 1))
        let records = (1...8).map { Self.record($0, database) }
        try StateFileTests.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for record in records { file.remember(record) }
            file.flush()
            file.remember(records[0])
            file.flush()
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? .max
            #expect(size < 2_000_000)
            let kept = StateFile(path: path, freshSecret: 8).peers
            #expect(kept.map(\.identifier) == (records[1...] + [records[0]]).map(\.identifier))
            #expect(kept.allSatisfy { $0.bond != nil })
            let known = kept.indices.filter { kept[$0].bond?.database == database }
            #expect(!known.isEmpty && known.count < 8)
            #expect(known == Array((8 - known.count)..<8))
        }
    }
}

/// Numbers from a seed.
struct SampleRandom {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
