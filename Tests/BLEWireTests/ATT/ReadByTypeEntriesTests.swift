import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.4.4.2.
@Suite("Entries of a Read By Type Response")
struct ReadByTypeEntriesTests {
    typealias Entries = ATT.ReadByTypeResponse.Entries

    /// What comes of values of these lengths, offered one after the other until one is not taken whole.
    static func entries(_ lengths: [Int], mtu: Int) -> Entries {
        var entries = Entries()
        for (index, length) in lengths.enumerated() {
            let value = [UInt8](repeating: UInt8(index), count: length)
            guard entries.append(AttributeHandle(wire: UInt16(index + 1)), value, mtu: mtu) else { break }
        }
        return entries
    }

    @Test(
        "Entries have the length of the first, as many as fit, and values are truncated to fit",
        arguments: [
            ([19, 19], 23, [19]), ([19, 19], 43, [19]), ([19, 19], 44, [19, 19]), ([3, 3, 4, 3], 23, [3, 3]),
            ([20, 19], 23, [19]), ([300, 253], 517, [253]), ([253, 253, 253], 517, [253, 253]), ([254], 257, [253]),
            ([0, 0, 0], 23, [0, 0, 0]), ([512], 65_535, [253]),
        ]
    )
    func room(lengths: [Int], mtu: Int, expected: [Int]) throws {
        let entries = Self.entries(lengths, mtu: mtu), packet = ATTPacket.readByTypeResponse(.init(entries: entries))
        #expect(entries.map(\.value.count) == expected && entries.count == expected.count)
        #expect(entries.map(\.handle.wire) == [UInt16](1...UInt16(expected.count)))
        #expect(packet.encoded.count <= mtu)
        #expect(try ATTPacket(decoding: packet.encoded) == packet)
    }

    @Test("Entries are encoded in order and dissected one by one")
    func octets() {
        let packet = ATTPacket.readByTypeResponse(.init(entries: Self.entries([2, 2], mtu: 23)))
        #expect(packet.encoded == [0x09, 4, 1, 0, 0, 0, 2, 0, 1, 1])
        let entry = ["Attribute Handle", "Attribute Value"], names = ["Attribute Opcode", "Length"] + entry + entry
        #expect(packet.dissection.fields.map(\.name) == names)
        #expect(packet.dissection.fields.map(\.range) == [0..<1, 1..<2, 2..<4, 4..<6, 6..<8, 8..<10])
    }
}
