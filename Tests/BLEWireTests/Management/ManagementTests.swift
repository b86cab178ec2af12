import BLEWire
import Testing

@Suite("Management protocol")
struct ManagementTests {
    @Test(
        "A command consists of a header and parameters, least significant octet first",
        arguments: [
            (.readExtendedIndexList, .none, [], [0x3C, 0x00, 0xFF, 0xFF, 0x00, 0x00]),
            (.readInformation, AdapterIndex(wire: 1), [], [0x04, 0x00, 0x01, 0x00, 0x00, 0x00]),
            (
                .setPowered, AdapterIndex(wire: 0x0102), Management.SetPowered(true).encoded,
                [0x05, 0x00, 0x02, 0x01, 0x01, 0x00, 0x01]
            ),
        ] as [(Management.Opcode, AdapterIndex, [UInt8], [UInt8])]
    )
    func command(opcode: Management.Opcode, index: AdapterIndex, parameters: [UInt8], octets: [UInt8]) {
        #expect(Management.command(opcode, on: index, parameters: parameters) == octets)
    }

    private static let events: [(ManagementEvent, [UInt8])] = [
        (
            ManagementEvent(.commandComplete(.init(.readIndexList, parameters: [1, 0, 0, 0])), on: .none),
            [0x01, 0x00, 0xFF, 0xFF, 0x07, 0x00, 0x03, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00]
        ),
        (
            ManagementEvent(.commandStatus(.init(.setPowered, .permissionDenied)), on: AdapterIndex(wire: 0)),
            [0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x05, 0x00, 0x14]
        ),
        (ManagementEvent(.indexAdded, on: AdapterIndex(wire: 2)), [0x04, 0x00, 0x02, 0x00, 0x00, 0x00]),
        (ManagementEvent(.indexRemoved, on: AdapterIndex(wire: 2)), [0x05, 0x00, 0x02, 0x00, 0x00, 0x00]),
        (
            ManagementEvent(.newSettings(.init([.powered, .lowEnergy])), on: AdapterIndex(wire: 0)),
            [0x06, 0x00, 0x00, 0x00, 0x04, 0x00, 0x01, 0x02, 0x00, 0x00]
        ),
        (
            ManagementEvent(.extendedIndexAdded(.init(bus: .usb)), on: AdapterIndex(wire: 1)),
            [0x20, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x01]
        ),
        (
            ManagementEvent(.extendedIndexRemoved(.init(bus: .uart)), on: AdapterIndex(wire: 1)),
            [0x21, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x03]
        ),
        (
            ManagementEvent(.unknown(.init(wire: 0x0007), [1, 2, 3]), on: AdapterIndex(wire: 1)),
            [0x07, 0x00, 0x01, 0x00, 0x03, 0x00, 0x01, 0x02, 0x03]
        ),
    ]

    @Test("An event encodes to its octets and decodes from them", arguments: events)
    func event(event: ManagementEvent, octets: [UInt8]) throws {
        #expect(try ManagementEvent(decoding: octets) == event)
        #expect(event.encoded == octets)
    }

    @Test("An event that is too short or too long is refused", arguments: events)
    func length(event: ManagementEvent, octets: [UInt8]) {
        for count in 0..<octets.count {
            #expect(throws: PacketError.self) { try ManagementEvent(decoding: Array(octets[..<count])) }
        }
        #expect(throws: PacketError.trailing(count: 1)) { try ManagementEvent(decoding: octets + [0]) }
    }

    @Test("An event of the right length with invalid parameters is refused")
    func parameters() {
        #expect(throws: PacketError.trailing(count: 1)) {
            try ManagementEvent(decoding: [0x04, 0x00, 0x02, 0x00, 0x01, 0x00, 0x00])
        }
        #expect(throws: PacketError.self) {
            try ManagementEvent(decoding: [0x06, 0x00, 0x00, 0x00, 0x03, 0x00, 0x01, 0x02, 0x00])
        }
    }

    @Test("No octets crash the decoder")
    func garbage() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            var octets = [UInt8].random(upTo: 40, using: &random)
            if octets.count >= 6 {
                octets[0] = UInt8.random(in: 0...0x22, using: &random)
                octets[1] = 0
                octets[4] = UInt8(octets.count - 6)
                octets[5] = 0
            }
            guard let event = try? ManagementEvent(decoding: octets) else { continue }
            #expect(event.encoded == octets)
        }
    }

    @Test("A list with more controllers than possible is refused")
    func tooMany() throws {
        let entries = (0..<Management.mostControllers).map { AdapterIndex(wire: UInt16($0)) }
        let list = Management.IndexList(entries)
        #expect(try Management.IndexList(decoding: list.encoded) == list)
        let octets: [UInt8] = [0x01, 0x01] + [UInt8](repeating: 0, count: 257 * 2)
        #expect(throws: PacketError.reserved(field: "Num Controllers")) {
            try Management.IndexList(decoding: octets)
        }
    }

    @Test("A name ends at the first zero, and is truncated to its field", arguments: ["", "box", "Büro 7"])
    func name(text: String) throws {
        var information = Management.Information()
        information.name = text
        let decoded = try Management.Information(decoding: information.encoded)
        #expect(decoded.name == (text.isEmpty ? nil : text))
        information.name = String(repeating: "x", count: 400)
        #expect(information.encoded.count == 280)
        #expect(information.name?.count == 248)
    }

    @Test(
        "The name of an adapter contains its number",
        arguments: [
            ("hci0", 0), ("hci17", 17), ("hci65534", 65_534), ("hci65535", nil), ("hci", nil), ("hci-1", nil),
            ("hci+1", nil), ("hci0x1", nil), ("0", nil), ("HCI0", nil), ("hci٣", nil), ("hci99999999999", nil),
        ] as [(String, UInt16?)]
    )
    func index(name: String, number: UInt16?) {
        #expect(AdapterIndex(name: name)?.wire == number)
    }

    @Test("Unknown numbers also have a description")
    func descriptions() {
        #expect(Management.Status.permissionDenied.description == "Permission Denied")
        #expect(Management.Status.blocked.description == "RFKilled")
        #expect(Management.Status(wire: 0x99).description == "Status 0x99")
        #expect(Management.Bus.uart.description == "UART")
        #expect(Management.Bus(wire: 0x77).description == "bus 0x77")
        #expect(Management.Settings([.powered, .lowEnergy]).description == "Powered, Low Energy")
    }
}
