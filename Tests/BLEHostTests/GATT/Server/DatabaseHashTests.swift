import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 7.3 and Appendix B.
@Suite("Database Hash")
struct DatabaseHashTests {
    private static func service(
        _ uuid: UInt16,
        _ first: UInt16,
        _ last: UInt16,
        isPrimary: Bool = true,
        _ items: [GATTDatabase.ExactItem]
    ) throws -> GATTDatabase.ExactService {
        let range = try #require(AttributeHandleRange(.init(wire: first), .init(wire: last)))
        return .init(uuid: .short(uuid), isPrimary: isPrimary, range: range, items: items)
    }

    private static func characteristic(
        _ handle: UInt16,
        _ uuid: UInt16,
        _ properties: UInt16,
        value: [UInt8] = []
    ) -> GATTDatabase.ExactItem {
        .characteristic(
            .init(wire: handle),
            .short(uuid),
            .init(rawValue: properties),
            value: (.init(wire: handle + 1), value),
            [.readable, .writeable]
        )
    }

    private static func descriptor(_ handle: UInt16, _ uuid: UInt16, _ value: [UInt8]) -> GATTDatabase.ExactItem {
        .descriptor(.init(wire: handle), .short(uuid), [.readable, .writeable], value)
    }

    /// The database of the appendix.
    private static func sample(name: [UInt8] = [0x41]) throws -> GATTDatabase {
        let battery = try #require(AttributeHandleRange(.init(wire: 0x14), .init(wire: 0x16)))
        return try #require(
            GATTDatabase(exactly: [
                try service(
                    0x1800,
                    1,
                    5,
                    [characteristic(2, 0x2A00, 0x0A, value: name), characteristic(4, 0x2A01, 2)]
                ),
                try service(
                    0x1801,
                    6,
                    13,
                    [
                        characteristic(7, 0x2A05, 0x20), descriptor(9, 0x2902, [0, 0]),
                        characteristic(10, 0x2B29, 0x0A), characteristic(12, 0x2B2A, 2),
                    ]
                ),
                try service(
                    0x1808,
                    14,
                    0x13,
                    [
                        .include(.init(wire: 15), .short(0x180F), battery), characteristic(0x10, 0x2A18, 0xA2),
                        descriptor(0x12, 0x2902, [0, 0]), descriptor(0x13, 0x2900, [0, 0]),
                    ]
                ),
                try service(0x180F, 0x14, 0x16, isPrimary: false, [characteristic(0x15, 0x2A19, 2)]),
            ])
        )
    }

    @Test("The hash of the specification's example is correct")
    func example() throws {
        #expect(try Self.sample().hash == 0xF1CA_2D48_ECF5_8BAC_8A88_30BB_B9FB_A990)
    }

    @Test("The hash does not depend on values, except those of Extended Properties")
    func values() throws {
        var database = try Self.sample(name: [1, 2, 3])
        let hash = try Self.sample().hash
        #expect(database.hash == hash)
        database.store([1, 0], at: .init(wire: 0x12))
        #expect(database.hash == hash)
        database.store([1, 0], at: .init(wire: 0x13))
        #expect(database.hash != hash)
    }

    @Test("The hash is read least significant octet first, and is updated after each change")
    func reading() {
        var lone = LoneLayer(role: .peripheral, mtu: 64, database: GATTDatabase(deviceName: "Host", appearance: 0))
        var seen: [[UInt8]] = []
        for step in 0..<4 {
            let answer = lone.answers(to: [UInt8]("08 0100 ffff 2a2b")).first ?? []
            #expect(answer.prefix(4) == [0x09, 18, 13, 0])
            #expect([UInt8](answer.dropFirst(4)) == lone.layer.databaseHash.littleEndianOctets)
            #expect(!seen.contains(answer))
            seen.append(answer)
            let id = LocalAttributeID(rawValue: UInt32(step))
            _ = lone.perform(.addService(.init(id: id, uuid: .short(0xB000 + UInt16(step)))))
        }
        for step in (1..<4).reversed() {
            _ = lone.perform(.removeService(.init(rawValue: UInt32(step))))
            #expect(lone.answers(to: [UInt8]("08 0100 ffff 2a2b")).first == seen[step])
        }
    }
}
