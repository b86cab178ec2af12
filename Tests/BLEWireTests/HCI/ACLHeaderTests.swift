import BLEWire
import Testing

@Suite("HCI: headers of ACL data")
struct ACLHeaderTests {
    @Test("The header has twelve bits of handle below two bits of boundary flag")
    func octets() throws {
        let header = ACLHeader(
            handle: try #require(ConnectionHandle(wire: 0x0EAB)),
            boundary: .firstFromController,
            length: 0x0102
        )
        #expect(header.encoded == [0xAB, 0x2E, 0x02, 0x01])
        #expect(try ACLHeader(decoding: [0xAB, 0x2E, 0x02, 0x01]) == header)
    }

    @Test("A reserved handle, a complete BR/EDR packet and a broadcast are refused", arguments: [0x0F, 0x30, 0x40])
    func reserved(highOctet: UInt8) {
        #expect(throws: PacketError.reserved(field: "Connection Handle and Flags")) {
            try ACLHeader(decoding: [0x00, highOctet, 0x00, 0x00])
        }
    }

    @Test("The payload after the header is left to the reader")
    func payload() throws {
        let octets: [UInt8] = [0x40, 0x10, 0x02, 0x00, 0xAA, 0xBB]
        var decoder = PacketDecoder(octets.span)
        let header = try ACLHeader(from: &decoder)
        #expect(header.boundary == .continuing)
        #expect([UInt8](copying: decoder.unread) == [0xAA, 0xBB])
    }
}
