import BLEWire
import Testing

@Suite("HCI: complete commands and events")
struct HCIPacketTests {
    @Test("A declared command is recognized by its opcode, and keeps its octets", arguments: HCI.commands)
    func knowsCommand(_ type: any HCICommand.Type) throws { try knows(command: type) }

    private func knows<Command: HCICommand>(command _: Command.Type) throws {
        var generator = PacketGenerator(random: SeededGenerator(seed: 1))
        for _ in 0..<50 {
            let parameters = generator.next(Command.self).encoded
            guard let length = UInt8(exactly: parameters.count) else { continue }
            let octets = Command.opcode.wire.littleEndianOctets + [length] + parameters
            let packet = try HCICommandPacket(decoding: octets)
            #expect(packet != .unknown(Command.opcode, parameters))
            #expect(packet.opcode == Command.opcode)
            #expect(packet.encoded == [1] + octets)
            #expect(packet.dissection.size == octets.count + 1)
        }
    }

    @Test("A declared event is recognized by its code, and keeps its octets", arguments: EveryPacket.hciEvents)
    func knowsEvent(_ type: any HCIEvent.Type) throws { try knows(event: type, start: [type.code.wire]) }

    @Test("A declared LE event is recognized by its code, and keeps its octets", arguments: EveryPacket.hciLEEvents)
    func knowsLEEvent(_ type: any HCILEEvent.Type) throws { try knows(event: type, start: [0x3E, type.subevent.wire]) }

    private func knows<Event: Packet>(event _: Event.Type, start: [UInt8]) throws {
        var generator = PacketGenerator(random: SeededGenerator(seed: 1))
        for _ in 0..<50 {
            let parameters = Array(start.dropFirst()) + generator.next(Event.self).encoded
            guard let length = UInt8(exactly: parameters.count) else { continue }
            let octets = [start[0], length] + parameters
            let packet = try HCIEventPacket(decoding: octets)
            #expect(packet.isKnown)
            #expect(packet.code.wire == start[0])
            #expect(packet.subevent?.wire == (start.count == 2 ? start[1] : nil))
            #expect(packet.encoded == [4] + octets)
            #expect(packet.dissection.size == octets.count + 1)
        }
    }

    @Test("Random parameters of any opcode never crash the decoder, and what decodes survives a round trip")
    func randomCommands() throws {
        var random = SeededGenerator(seed: 5)
        let strange: [HCI.Opcode] = [.none, .init(wire: 0xFFFF), .init(wire: 0x203E), .init(wire: 0xFC01)]
        for opcode in HCI.commands.map({ $0.opcode }) + strange {
            for _ in 0..<100 {
                let parameters = [UInt8].random(upTo: 80, using: &random)
                let octets = opcode.wire.littleEndianOctets + [UInt8(parameters.count)] + parameters
                guard let packet = try? HCICommandPacket(decoding: octets) else { continue }
                #expect(packet.opcode == opcode)
                #expect(try HCICommandPacket(decoding: Array(packet.encoded.dropFirst())) == packet)
            }
        }
    }

    @Test("Random parameters of any event never crash the decoder, and what decodes survives a round trip")
    func randomEvents() throws {
        var random = SeededGenerator(seed: 6)
        let starts = (0...255).map { [UInt8($0)] } + (0...255).map { [0x3E, UInt8($0)] }
        for start in starts {
            for _ in 0..<40 {
                let parameters = start.dropFirst() + [UInt8].random(upTo: 80, using: &random)
                let octets = [start[0], UInt8(parameters.count)] + parameters
                guard let packet = try? HCIEventPacket(decoding: octets) else { continue }
                #expect(packet.code.wire == start[0])
                #expect(try HCIEventPacket(decoding: Array(packet.encoded.dropFirst())) == packet)
            }
        }
    }

    @Test("An undeclared command or event is kept with its octets")
    func unknown() throws {
        let command = try HCICommandPacket(decoding: [0x01, 0xFC, 0x02, 0xAA, 0xBB])
        #expect(command == .unknown(HCI.Opcode(wire: 0xFC01), [0xAA, 0xBB]))
        #expect(command.encoded == [0x01, 0x01, 0xFC, 0x02, 0xAA, 0xBB])

        let event = try HCIEventPacket(decoding: [0xFF, 0x01, 0x07])
        #expect(event == .unknown(HCI.EventCode(wire: 0xFF), [0x07]))
        #expect(event.encoded == [0x04, 0xFF, 0x01, 0x07])

        let subevent = try HCIEventPacket(decoding: [0x3E, 0x02, 0x7F, 0x09])
        #expect(subevent == .unknownLE(HCI.LESubevent(wire: 0x7F), [0x09]))
        #expect(subevent.encoded == [0x04, 0x3E, 0x02, 0x7F, 0x09])
    }

    @Test("A length octet that does not match the parameters is refused")
    func length() {
        let cut = PacketError.truncated(field: "Parameter Total Length")
        #expect(throws: cut) { try HCICommandPacket(decoding: [0x0C, 0x20, 0x02, 0x01]) }
        #expect(throws: cut) { try HCICommandPacket(decoding: [0x0C, 0x20]) }
        #expect(throws: PacketError.trailing(count: 1)) { try HCICommandPacket(decoding: [0x0C, 0x20, 0x02, 1, 0, 9]) }
        #expect(throws: PacketError.trailing(count: 1)) { try HCICommandPacket(decoding: [0x03, 0x0C, 0x01, 0x00]) }
        #expect(throws: PacketError.truncated(field: "Opcode")) { try HCICommandPacket(decoding: []) }

        #expect(throws: cut) { try HCIEventPacket(decoding: [0x10, 0x02, 0x01]) }
        #expect(throws: cut) { try HCIEventPacket(decoding: [0x10]) }
        #expect(throws: PacketError.trailing(count: 1)) { try HCIEventPacket(decoding: [0x10, 0x01, 0x01, 0x02]) }
        #expect(throws: PacketError.truncated(field: "Subevent Code")) { try HCIEventPacket(decoding: [0x3E, 0x00]) }
        #expect(throws: PacketError.truncated(field: "Event Code")) { try HCIEventPacket(decoding: []) }
    }
}

extension HCIEventPacket {
    fileprivate var isKnown: Bool {
        switch self {
        case .unknown, .unknownLE: false
        default: true
        }
    }
}
