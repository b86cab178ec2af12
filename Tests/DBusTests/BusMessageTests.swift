import Testing

@testable import DBus

@Suite("D-Bus messages")
struct BusMessageTests {
    private static let closed = BusMessage(
        kind: .signal,
        serial: 9,
        path: "/a",
        interface: "o.N",
        member: "M",
        body: [.uint32(5), .uint32(2)]
    )

    private static let octets: [UInt8] = [
        0x6C, 4, 0, 1, 8, 0, 0, 0, 9, 0, 0, 0, 56, 0, 0, 0,
        1, 1, 0x6F, 0, 2, 0, 0, 0, 0x2F, 0x61, 0, 0, 0, 0, 0, 0,
        2, 1, 0x73, 0, 3, 0, 0, 0, 0x6F, 0x2E, 0x4E, 0, 0, 0, 0, 0,
        3, 1, 0x73, 0, 1, 0, 0, 0, 0x4D, 0, 0, 0, 0, 0, 0, 0,
        8, 1, 0x67, 0, 2, 0x75, 0x75, 0,
        5, 0, 0, 0, 2, 0, 0, 0,
    ]

    @Test("A message encodes to the octets in the specification and decodes from them")
    func octets() throws {
        let octets = Self.octets
        #expect(Self.closed.octets == octets)
        #expect(try BusMessage.length(of: octets[...]) == octets.count)
        #expect(try BusMessage(reading: octets) == Self.closed)
        #expect(try BusMessage.length(of: octets[..<15]) == nil)
    }

    @Test(
        "A message with a wrong byte order mark, version, kind, serial, length or field is refused",
        arguments: [(0, 0), (1, 0), (1, 5), (3, 2), (8, 0), (4, 7), (12, 57), (14, 255), (18, 0x73), (69, 0x73)]
    )
    func malformed(index: Int, value: UInt8) {
        var octets = Self.closed.octets
        octets[index] = value
        #expect(throws: BusMessage.Malformed.self) { try BusMessage(reading: octets) }
    }

    @Test("A message with changed octets does not crash the decoder", arguments: 1...16 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var state = seed
        for _ in 0..<2000 {
            var octets = Self.closed.octets
            for _ in 0..<3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                octets[Int(state >> 33) % octets.count] = UInt8(truncatingIfNeeded: state >> 20)
            }
            guard let message = try? BusMessage(reading: octets) else { continue }
            #expect(message.octets.count <= BusMessage.limit)
        }
    }
}
