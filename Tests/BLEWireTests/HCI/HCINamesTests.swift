import BLEWire
import Testing

@Suite("HCI: names of codes")
struct HCINamesTests {
    @Test("Every command has a unique opcode and a unique name")
    func commands() {
        let opcodes = HCI.commands.map { $0.opcode }
        #expect(Set(opcodes).count == opcodes.count)
        #expect(Set(opcodes.map(\.description)).count == opcodes.count)
        #expect(opcodes.allSatisfy { !$0.description.hasPrefix("command 0x") })
        #expect(HCI.Opcode(wire: 0xFC01).description == "command 0xfc01")
        #expect(HCI.Opcode.none.description == "NOP")
    }

    @Test("Every event has a unique code and a unique name")
    func events() {
        let names =
            EveryPacket.hciEvents.map { $0.code.description } + EveryPacket.hciLEEvents.map { $0.subevent.description }
        #expect(Set(names).count == names.count)
        #expect(Set(EveryPacket.hciEvents.map { $0.code }).count == EveryPacket.hciEvents.count)
        #expect(Set(EveryPacket.hciLEEvents.map { $0.subevent }).count == EveryPacket.hciLEEvents.count)
        #expect(names.allSatisfy { !$0.contains("0x") })
    }

    @Test(
        "Error codes are those of Vol 1, Part F",
        arguments: [
            (.success, 0x00, "Success"), (.connectionTimeout, 0x08, "Connection Timeout"),
            (.commandDisallowed, 0x0C, "Command Disallowed"),
            (.remoteUserTerminatedConnection, 0x13, "Remote User Terminated Connection"),
            (.connectionTerminatedByLocalHost, 0x16, "Connection Terminated by Local Host"),
            (.advertisingTimeout, 0x3C, "Advertising Timeout"),
            (.unknownAdvertisingIdentifier, 0x42, "Unknown Advertising Identifier"),
            (.insufficientChannels, 0x48, "Insufficient Channels"), (HCI.Status(wire: 0x99), 0x99, "error 0x99"),
        ] as [(HCI.Status, UInt8, String)]
    )
    func status(_ status: HCI.Status, code: UInt8, name: String) {
        #expect(status.wire == code)
        #expect(status.description == name)
    }

    @Test(
        "A header gives the length of its payload",
        arguments: [
            (.command, [0x03, 0x0C, 0x07], 7), (.event, [0x3E, 0x13], 19), (.acl, [0x40, 0x20, 0x02, 0x01], 258),
            (.iso, [0x40, 0x20, 0x02, 0xC1], 258), (.synchronous, [0x40, 0x20, 0x09], 9),
            (.event, [0x3E], nil), (HCI.PacketType(wire: 9), [1, 2, 3, 4], nil),
        ] as [(HCI.PacketType, [UInt8], Int?)]
    )
    func framing(type: HCI.PacketType, header: [UInt8], size: Int?) {
        #expect(type.payloadSize(header: header.span) == size)
    }
}
