import BLERuntime
import FoundationEssentials
import Testing

@Suite("Numbers in input")
struct BoundsTests {
    /// A file with one number of each kind.
    private struct Numbers: Decodable {
        let octets: Int
        let share: Double?
        let big: UInt64?

        private enum Key: String, CodingKey { case octets, share, big }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            octets = try values.decode(Bounds(1...512, of: "octets"), forKey: .octets)
            share = try values.decodeIfPresent(Bounds(0.0...0.9), forKey: .share)
            big = try values.decodeIfPresent(Bounds(0...UInt64.max), forKey: .big)
        }
    }

    private func read(_ json: String) throws -> [Numbers] {
        try JSONDecoder().decode([Numbers].self, from: Data(json.utf8))
    }

    @Test("Numbers within the bounds are accepted, including the bounds")
    func within() throws {
        let numbers = try read(
            #"[{"octets": 1}, {"octets": 512, "share": 0.9, "big": 18446744073709551615}, {"octets": 1e2, "share": 0}]"#
        )
        #expect(numbers.map(\.octets) == [1, 512, 100])
        #expect(numbers.map(\.share) == [nil, 0.9, 0])
        #expect(numbers.map(\.big) == [nil, .max, nil])
    }

    @Test(
        "Numbers out of bounds are refused, with their keys and the expected range",
        arguments: [
            "0", "513", "-1", "1.5", "1e30", "1e300", "1e999", "99999999999999999999", "-1e999", #""1""#, "[]", "{}",
            "true",
        ]
    )
    func outside(number: String) {
        let error = #expect(throws: DecodingError.self) { try read(#"[{"octets": 1}, {"octets": \#(number)}]"#) }
        #expect(error?.explanation == "a whole number of octets from 1 to 512 is expected (at [1].octets)")
    }

    @Test("An optional number out of bounds is also refused", arguments: ["-0.1", "0.91", "1e999", #""""#])
    func optional(number: String) {
        let error = #expect(throws: DecodingError.self) { try read(#"[{"octets": 1, "share": \#(number)}]"#) }
        #expect(error?.explanation == "a number from 0 to 0.9 is expected (at [0].share)")
    }

    @Test("A missing value is reported by its key")
    func missing() {
        for json in ["[{}]", #"[{"octets": null}]"#] {
            let error = #expect(throws: DecodingError.self) { try read(json) }
            #expect(error?.explanation == "“octets” is missing (at [0])")
        }
        #expect(throws: DecodingError.self) { try read("[") }
    }

    @Test(
        "Typed text must be a number within the bounds",
        arguments: ["0", "-1", "nan", "inf", "-inf", "1e20", "1e999", "", " 1", "1 ", "one", "0x", "60.1", "١"]
    )
    func typed(text: String) throws {
        let bounds = Bounds(0.5...60, of: "seconds")
        let refusal = #expect(throws: Bounds<Double>.Refusal.self) { try bounds.duration(text) }
        #expect(refusal?.description == "a number of seconds from 0.5 to 60 is expected")
        #expect(try bounds.duration("0.5") == .milliseconds(500))
        #expect(try bounds.read("60") == 60)
    }

    @Test("Only integers are parsed as integers", arguments: ["1.5", "1e3", "65536", "-1", "", "+"])
    func integers(text: String) {
        #expect(throws: Bounds<UInt16>.Refusal.self) { try Bounds(0...UInt16.max).read(text) }
    }
}
