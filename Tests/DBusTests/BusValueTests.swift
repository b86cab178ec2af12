import Testing

@testable import DBus

@Suite("D-Bus values")
struct BusValueTests {
    private static let values: [(value: BusValue, signature: String, octets: [UInt8])] = [
        (.byte(7), "y", [7]),
        (.boolean(true), "b", [1, 0, 0, 0]),
        (.int32(-1), "i", [255, 255, 255, 255]),
        (.uint32(0x0102_0304), "u", [4, 3, 2, 1]),
        (.string("ab"), "s", [2, 0, 0, 0, 97, 98, 0]),
        (.path("/a"), "o", [2, 0, 0, 0, 47, 97, 0]),
        (.signature("as"), "g", [2, 97, 115, 0]),
        (.variant(.byte(2)), "v", [1, 121, 0, 2]),
        (.array(of: .string, [.string("a")]), "as", [6, 0, 0, 0, 1, 0, 0, 0, 97, 0]),
        (.array(of: .entry(.string, .variant), []), "a{sv}", [0, 0, 0, 0, 0, 0, 0, 0]),
        (.structure([.byte(1), .uint32(2)]), "(yu)", [1, 0, 0, 0, 2, 0, 0, 0]),
        (
            .array(of: .entry(.string, .variant), [.entry(.string("u"), .variant(.byte(2)))]), "a{sv}",
            [10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 117, 0, 1, 121, 0, 2]
        ),
    ]

    @Test("A value encodes to the octets in the specification and decodes from them", arguments: values)
    func octets(value: BusValue, signature: String, octets: [UInt8]) {
        var written: [UInt8] = []
        value.write(to: &written)
        #expect(written == octets)
        #expect(value.type.code == signature)
        var reader = BusReader(octets)
        #expect(reader.all(signature) == [value])
        for count in octets.indices {
            var short = BusReader(Array(octets[..<count]))
            #expect(short.all(signature) == nil)
        }
    }

    @Test("Numbers in the other byte order are decoded")
    func bigEndian() {
        var reader = BusReader([1, 2, 3, 4, 0, 0, 0, 1, 97, 0], isBigEndian: true)
        #expect(reader.all("us") == [.uint32(0x0102_0304), .string("a")])
    }

    @Test(
        "A malformed value is refused",
        arguments: [
            ("b", [2, 0, 0, 0]), ("s", [255, 255, 255, 255, 0]), ("s", [1, 0, 0, 0, 0, 0]),
            ("s", [1, 0, 0, 0, 97, 98]),
            ("s", [1, 0, 0, 0, 255, 0]), ("o", [1, 0, 0, 0, 97, 0]), ("yu", [1, 9, 0, 0, 2, 0, 0, 0]),
            ("as", [5, 0, 0, 0, 1, 0, 0, 0, 97, 0]), ("ay", [255, 255, 255, 255]), ("v", [2, 121, 121, 0, 1, 1]),
            ("v", [0, 0]), ("y", [1, 2]),
        ] as [(String, [UInt8])]
    )
    func malformed(signature: String, octets: [UInt8]) {
        var reader = BusReader(octets)
        #expect(reader.all(signature) == nil)
    }

    @Test(
        "A signature that is malformed or too deep is refused",
        arguments: [
            "a", "(", "()", "(y", ")", "a{s}", "a{vs}", "{sv}", "z", String(repeating: "a", count: 16) + "y",
            String(repeating: "y", count: 256),
        ]
    )
    func signatures(text: String) { #expect(BusType.list(text) == nil) }

    @Test("Nested variants are refused beyond a limit")
    func nesting() {
        var nested: [UInt8] = []
        for _ in 0..<200 { nested += [1, 118, 0] }
        nested += [1, 121, 0, 1]
        var reader = BusReader(nested)
        #expect(reader.all("v") == nil)
    }

    @Test("No octets crash the decoder", arguments: 1...16 as ClosedRange<UInt64>)
    func random(seed: UInt64) {
        var state = seed
        for _ in 0..<2000 {
            let octets = (0..<48).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33) & (state >> 60 < 12 ? 7 : 255)
            }
            for signature in ["yyyyuua(yv)", "v", "us", "uu", "a{sv}", "susssasa{sv}i"] {
                var reader = BusReader(octets, isBigEndian: state >> 63 == 1)
                _ = reader.all(signature)
                #expect(reader.position <= octets.count)
            }
        }
    }
}
