import BLEWire
import Testing

/// What a peer may send that is no packet.
@Suite("Malformed ATT packets")
struct ATTMalformedTests {
    /// Packets that end in octets of any number, and the length from which on they are packets.
    static let openEnded: [ATT.Opcode: Int] = [
        .findByTypeValueRequest: 7, .readResponse: 1, .readBlobResponse: 1, .readMultipleResponse: 1,
        .writeRequest: 3, .writeCommand: 3, .signedWriteCommand: 15, .prepareWriteRequest: 5,
        .prepareWriteResponse: 5, .handleValueNotification: 3, .handleValueIndication: 3,
    ]

    @Test("An empty packet is refused")
    func empty() {
        #expect(throws: PacketError.truncated(field: "Attribute Opcode")) { try ATTPacket(decoding: []) }
    }

    @Test(
        "A fixed-length packet is refused at every shorter length, and with one more octet",
        arguments: ATTVector.all.filter { $0.shape == .fixed }
    )
    func fixedLength(_ vector: ATTVector) {
        for length in 1..<max(1, vector.octets.count) {
            #expect(throws: PacketError.self) { try ATTPacket(decoding: Array(vector.octets.prefix(length))) }
        }
        #expect(throws: PacketError.trailing(count: 1)) { try ATTPacket(decoding: vector.octets + [0]) }
    }

    @Test(
        "A packet that ends in a UUID is refused at every length except those of the two UUID sizes",
        arguments: ATTVector.all.filter { $0.shape == .endingInUUID }
    )
    func uuidLength(_ vector: ATTVector) {
        let octets = vector.octets + [UInt8](repeating: 0, count: 22 - vector.octets.count)
        for length in 1...octets.count {
            let packet = try? ATTPacket(decoding: Array(octets.prefix(length)))
            #expect((packet != nil) == [7, 21].contains(length))
        }
    }

    @Test(
        "An open-ended packet is refused while a field before its end is truncated",
        arguments: ATTVector.all.filter { $0.shape == .open }
    )
    func openLength(_ vector: ATTVector) throws {
        let minimum = try #require(Self.openEnded[vector.packet.opcode])
        for length in 1...vector.octets.count {
            let packet = try? ATTPacket(decoding: Array(vector.octets.prefix(length)))
            #expect((packet != nil) == (length >= minimum))
        }
    }

    @Test(
        "A list is refused if an entry is truncated, inconsistent or missing",
        arguments: [
            ("05 01", .truncated(field: "Information Data")),
            ("05 02", .truncated(field: "Information Data")),
            ("05", .truncated(field: "Format")),
            ("05 00 0300 0229", .reserved(field: "Format")),
            ("05 03 0300 0229", .reserved(field: "Format")),
            ("05 01 03", .truncated(field: "Handle")),
            ("05 01 0300 02", .truncated(field: "UUID")),
            ("05 01 0300 0229 04", .truncated(field: "Handle")),
            ("05 02 0300 0229", .truncated(field: "UUID")),
            ("07", .truncated(field: "Handles Information List")),
            ("07 1000 1F", .truncated(field: "Group End Handle")),
            ("07 1000 1F00 30", .truncated(field: "Found Attribute Handle")),
            ("09", .truncated(field: "Length")),
            ("09 04", .truncated(field: "Attribute Data List")),
            ("09 00", .reserved(field: "Length")),
            ("09 01 05", .reserved(field: "Length")),
            ("09 04 05", .truncated(field: "Attribute Handle")),
            ("09 04 0500 AABB 07", .truncated(field: "Attribute Handle")),
            ("09 04 0500 AA", .truncated(field: "Attribute Value")),
            ("09 04 0500 AABB 0700 CC", .truncated(field: "Attribute Value")),
            ("09 FF 0500 AABB", .truncated(field: "Attribute Value")),
            ("11 06", .truncated(field: "Attribute Data List")),
            ("11 03 0100 0500", .reserved(field: "Length")),
            ("11 06 0100 0500 00", .truncated(field: "Attribute Value")),
            ("11 06 0100 0500 0018 0600", .truncated(field: "End Group Handle")),
            ("0E", .truncated(field: "Set Of Handles")),
            ("0E 0300", .truncated(field: "Set Of Handles")),
            ("0E 0300 05", .truncated(field: "Set Of Handles")),
            ("20 0300", .truncated(field: "Set Of Handles")),
            ("21", .truncated(field: "Length Value Tuple List")),
            ("21 02", .truncated(field: "Value Length")),
            ("21 0102 00", .reserved(field: "Value Length")),
            ("23", .truncated(field: "Handle Length Value Tuple List")),
            ("23 2A00 0200 06", .truncated(field: "Attribute Value")),
            ("23 2A00 0100 06 2C", .truncated(field: "Attribute Handle")),
            ("23 2A00 0102", .reserved(field: "Value Length")),
            ("08 0100 2000 03", .truncated(field: "Attribute Type")),
            ("08 0100 2000 03280000", .truncated(field: "Attribute Type")),
            ("10 0100 FFFF 000000", .truncated(field: "Attribute Group Type")),
            ("18 02", .reserved(field: "Flags")),
            ("18 FF", .reserved(field: "Flags")),
            ("13 00", .trailing(count: 1)),
            ("19 00", .trailing(count: 1)),
            ("1E 0000", .trailing(count: 2)),
        ] as [(String, PacketError)]
    )
    func lists(hex: String, error: PacketError) {
        #expect(throws: error) { try ATTPacket(decoding: [UInt8](hex: hex)) }
    }

    @Test("An invalid range is kept for the response, but is not a range")
    func invalidRanges() throws {
        for hex in ["04 0000 FFFF", "04 0500 0400"] {
            guard case .findInformationRequest(let request) = try ATTPacket(decoding: [UInt8](hex: hex)) else {
                Issue.record("\(hex) is another packet")
                continue
            }
            #expect(request.range == nil)
        }
    }

    @Test("Only the last value of a list of several values may be truncated by the MTU")
    func cutOffValue() throws {
        let values: [[UInt8]] = [[1, 2, 3], [UInt8](repeating: 9, count: 40)]
        let response = ATT.ReadMultipleVariableResponse(values: values, mtu: 23)
        let octets = ATTPacket.readMultipleVariableResponse(response).encoded
        #expect(octets.count == 23)
        #expect(octets.prefix(8) == [0x21, 3, 0, 1, 2, 3, 40, 0])
        #expect(response.entries.map(\.isCutOff) == [false, true])
        #expect(try ATTPacket(decoding: octets) == .readMultipleVariableResponse(response))
    }

    @Test("A length that does not fit into the MTU whole is omitted", arguments: [(6, 1), (7, 1), (8, 2), (9, 2)])
    func cutOffLength(mtu: Int, count: Int) {
        let response = ATT.ReadMultipleVariableResponse(values: [[1, 2, 3], [4, 5]], mtu: mtu)
        #expect(response.entries.count == count)
    }

    @Test("Random octets after any opcode never trap, and what decodes encodes to a packet that decodes to it")
    func garbage() throws {
        var random = SeededGenerator(seed: 1)
        for round in 0..<20_000 {
            let opcode = round.isMultiple(of: 8) ? UInt8(truncatingIfNeeded: random.next()) : Self.opcodes[round % 31]
            let tail = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            guard let packet = try? ATTPacket(decoding: [opcode] + tail) else { continue }
            #expect(try ATTPacket(decoding: packet.encoded) == packet)
            #expect(packet.dissection.fields.flatMap(\.range) == Array(packet.encoded.indices))
        }
    }

    private static let opcodes = Set(ATTVector.all.map(\.packet.opcode.wire)).sorted()
}

extension ATTVector {
    fileprivate enum Shape { case fixed, open, list, endingInUUID }

    /// What the length of the packet depends on.
    fileprivate var shape: Shape {
        switch packet {
        case .findInformationResponse, .findByTypeValueResponse, .readByTypeResponse, .readByGroupTypeResponse,
            .readMultipleRequest, .readMultipleVariableRequest, .readMultipleVariableResponse,
            .multipleNotification:
            .list
        case .readByTypeRequest, .readByGroupTypeRequest: .endingInUUID
        default: ATTMalformedTests.openEnded[packet.opcode] == nil ? .fixed : .open
        }
    }
}
