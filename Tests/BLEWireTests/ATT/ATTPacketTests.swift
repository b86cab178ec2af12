import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.4.
@Suite("ATT packets")
struct ATTPacketTests {
    @Test("Octets decode to the packet in the specification", arguments: ATTVector.all)
    func decoding(_ vector: ATTVector) throws {
        #expect(try ATTPacket(decoding: vector.octets) == vector.packet)
    }

    @Test("A packet encodes to the octets in the specification", arguments: ATTVector.all)
    func encoding(_ vector: ATTVector) {
        #expect(vector.packet.encoded == vector.octets)
        #expect(vector.packet.opcode.wire == vector.octets[0])
    }

    @Test("A packet is appended after the encoder's existing content", arguments: ATTVector.all)
    func appending(_ vector: ATTVector) {
        var encoder = PacketEncoder()
        encoder.append(contentsOf: [0xEE])
        vector.packet.encode(into: &encoder)
        #expect(encoder.bytes == [0xEE] + vector.octets)
    }

    @Test("The dissection has the specification's names and covers every octet once", arguments: ATTVector.all)
    func dissection(_ vector: ATTVector) {
        let layer = vector.packet.dissection
        #expect(layer.name == "ATT \(vector.packet.opcode)")
        #expect(layer.fields.map(\.name) == vector.fields)
        #expect(layer.fields.flatMap(\.range) == Array(vector.octets.indices))
    }

    @Test("Every named opcode has a test vector, and no other opcode decodes")
    func completeness() {
        let known = Set(ATTVector.all.map(\.packet.opcode))
        #expect(known.count == 31)
        for wire in UInt8.min...UInt8.max {
            let opcode = ATT.Opcode(wire: wire)
            #expect(opcode.description.hasPrefix("Opcode 0x") == !known.contains(opcode))
            guard !known.contains(opcode) else { continue }
            #expect(throws: PacketError.unknown(code: UInt16(wire))) { try ATTPacket(decoding: [wire, 1, 2, 3]) }
        }
    }

    @Test("A dissection explains the fields' values")
    func texts() {
        let error = ATT.ErrorResponse(request: .readRequest, handle: AttributeHandle(0x2A), code: .readNotPermitted)
        let texts = ATTPacket.errorResponse(error).dissection.fields.map(\.text)
        #expect(texts == ["Error Response", "Read Request", "0x002A", "Read Not Permitted"])
    }
}

/// Core 6.0, Vol 3, Part F, 3.3.1 and 3.4.1.1.
@Suite("ATT opcodes and errors")
struct ATTCodeTests {
    @Test("Only the two write commands are commands, and only one of them is signed")
    func commands() {
        let opcodes = Set(ATTVector.all.map(\.packet.opcode))
        #expect(opcodes.filter(\.isCommand) == Set([.writeCommand, .signedWriteCommand]))
        #expect(opcodes.filter(\.isSigned) == [.signedWriteCommand])
    }

    @Test("The response to a request has the same name")
    func responses() throws {
        let opcodes = Set(ATTVector.all.map(\.packet.opcode))
        let requests = opcodes.filter { $0.description.hasSuffix("Request") }
        #expect(requests.count == 12)
        for request in requests {
            let response = try #require(request.response)
            #expect(response.description == request.description.dropLast(7) + "Response")
        }
        #expect(opcodes.subtracting(requests).allSatisfy { $0.response == nil })
    }

    @Test("Every error code is preserved, and belongs to at most one of the two ranges")
    func errorRanges() throws {
        for wire in UInt8.min...UInt8.max {
            let octets = [0x01, 0x0A, 0x03, 0x00, wire]
            guard case .errorResponse(let response) = try ATTPacket(decoding: octets) else {
                Issue.record("\(octets) is no error response")
                continue
            }
            #expect(response.code.wire == wire)
            #expect(response.code.isApplication == (0x80...0x9F).contains(wire))
            #expect(response.code.isCommonProfile == (0xE0...0xFF).contains(wire))
        }
    }

    @Test("The 19 protocol errors and the 4 common profile errors have distinct names")
    func errorNames() {
        let codes = [UInt8](0x01...0x13) + [UInt8](0xFC...0xFF)
        let names = codes.map { ATT.ErrorCode(wire: $0).description }
        #expect(Set(names).count == 23)
        #expect(names.allSatisfy { !$0.contains("0x") })
        #expect(ATT.ErrorCode(wire: 0x80).description == "Application Error 0x80")
        #expect(ATT.ErrorCode(wire: 0xE0).description == "Common Profile Error 0xe0")
        #expect(ATT.ErrorCode(wire: 0x14).description == "Error 0x14")
    }

    @Test("The largest MTU fits a prepared write of the longest value")
    func sizes() {
        let part = [UInt8](repeating: 0, count: ATT.maximumValueLength)
        let packet = ATTPacket.prepareWriteRequest(.init(handle: AttributeHandle(1), offset: 0, part: part))
        #expect(packet.encoded.count == ATT.maximumMTU)
    }
}
