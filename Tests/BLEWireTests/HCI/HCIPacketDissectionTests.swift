import BLEWire
import Testing

@Suite("HCI: dissection of whole packets")
struct HCIPacketDissectionTests {
    private func layers(_ octets: [UInt8]) -> [DissectedLayer] {
        var trace = HCITrace()
        return trace.dissect(h4: octets, isFromHost: false).layers
    }

    private func text(_ name: String, in layer: DissectedLayer) -> String? {
        layer.fields.first { $0.name == name }?.text
    }

    @Test("A command has one layer with its fields")
    func command() throws {
        let layer = try #require(layers([0x01, 0x0C, 0x20, 0x02, 0x01, 0x00]).first)
        #expect(layer.name == "HCI Command LE Set Scan Enable")
        #expect(
            layer.fields.map(\.name) == [
                "Packet Type", "Opcode", "Parameter Total Length", "LE Scan Enable", "Filter Duplicates",
            ]
        )
        #expect(layer.fields.map(\.text) == ["HCI Command", "LE Set Scan Enable", "0x2", "on", "off"])
        #expect(layer.fields.map(\.range) == [0..<1, 1..<3, 3..<4, 4..<5, 5..<6])
    }

    @Test("The return parameters of a command are shown field by field")
    func commandComplete() throws {
        let octets: [UInt8] = [0x04, 0x0E, 0x0A, 0x01, 0x09, 0x10, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06]
        let layer = try #require(layers(octets).first)
        #expect(layer.name == "HCI Event Command Complete")
        #expect(text("Command Opcode", in: layer) == "Read BD_ADDR")
        #expect(text("Status", in: layer) == "Success")
        #expect(text("BD_ADDR", in: layer) == "06:05:04:03:02:01")
        #expect(layer.fields.flatMap(\.range) == Array(octets.indices))
    }

    @Test("Advertising data is shown in words, or as hexadecimal digits if it is malformed")
    func advertisingData() throws {
        func report(_ data: [UInt8]) -> [UInt8] {
            let start: [UInt8] = [0x02, 0x01, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, UInt8(data.count)]
            return [0x04, 0x3E, UInt8(start.count + data.count + 1)] + start + data + [0xC4]
        }
        let named = try #require(layers(report([0x03, 0x09, 0x48, 0x69])).first)
        #expect(named.name == "HCI Event LE Advertising Report")
        #expect(text("Address", in: named) == "06:05:04:03:02:01")
        #expect(text("Data Length", in: named) == "0x4")
        #expect(text("Data", in: named)?.contains("Hi") == true)
        #expect(text("RSSI", in: named) == "-60 dBm")
        let broken = try #require(layers(report([0x09, 0x09])).first)
        #expect(text("Data", in: broken) == "0909")
    }

    @Test("The return parameters of an unknown or failed command are shown as octets")
    func rawReturn() throws {
        let unknown = try #require(layers([0x04, 0x0E, 0x05, 0x01, 0x01, 0xFC, 0x00, 0x2A]).first)
        #expect(text("Return Parameters", in: unknown) == "002a")
        let failed = try #require(layers([0x04, 0x0E, 0x04, 0x01, 0x18, 0x20, 0x01]).first)
        #expect(text("Return Parameters", in: failed) == "01")
    }

    @Test("An ATT packet is the third layer of its data packet")
    func att() {
        let octets: [UInt8] = [0x02, 0x40, 0x20, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x0A, 0x2A, 0x00]
        let layers = layers(octets)
        #expect(layers.map(\.name) == ["ACL Data", "L2CAP", "ATT Read Request"])
        #expect(layers.map(\.size) == [5, 4, 3])
    }

    @Test("Fragments are shown as octets")
    func fragments() {
        #expect(
            layers([0x02, 0x40, 0x20, 0x05, 0x00, 0x09, 0x00, 0x04, 0x00, 0x1B]).map(\.name)
                == ["ACL Data", "L2CAP", "L2CAP Fragment"]
        )
        #expect(layers([0x02, 0x40, 0x10, 0x02, 0x00, 0x01, 0x02]).map(\.name) == ["ACL Data", "L2CAP Fragment"])
        #expect(layers([0x02, 0x40, 0x20, 0x01, 0x00, 0x09]).map(\.name) == ["ACL Data", "L2CAP Fragment"])
    }

    @Test(
        "An invalid packet becomes a malformed layer with the reason",
        arguments: [
            ([], "the packet ends before the end of Packet Type"),
            ([0x09, 0x01], "no packet has the code 0x9"),
            ([0x01, 0x0C], "the packet ends before the end of Opcode"),
            ([0x01, 0x0C, 0x20, 0x01, 0x01], "the packet ends before the end of Filter Duplicates"),
            ([0x01, 0x0C, 0x20, 0x02, 0x02, 0x00], "LE Scan Enable has a reserved value"),
            ([0x04, 0x10, 0x02, 0x01], "the packet ends before the end of Parameter Total Length"),
            ([0x04, 0x10, 0x00], "the packet ends before the end of Hardware Code"),
            ([0x02, 0x40, 0x20, 0x05, 0x00, 0x01], "the packet ends before the end of Data Total Length"),
            ([0x02, 0x40, 0x20, 0x05, 0x00, 0x00, 0x00, 0x04, 0x00, 0x01], "1 octet follows the last field"),
            (
                [0x02, 0x40, 0x20, 0x05, 0x00, 0x01, 0x00, 0x04, 0x00, 0x0A],
                "the packet ends before the end of Attribute Handle"
            ),
        ] as [([UInt8], String)]
    )
    func malformed(octets: [UInt8], reason: String) throws {
        let last = try #require(layers(octets).last)
        #expect(last.name == "malformed")
        #expect(last.fields.map(\.name) == [reason])
    }

    @Test("Layers cover all octets without gaps, whatever they are", arguments: 0...5 as ClosedRange<UInt8>)
    func coverage(type: UInt8) {
        var random = SeededGenerator(seed: UInt64(type))
        let opcodes = HCI.commands.map { $0.opcode.wire.littleEndianOctets }
        for _ in 0..<2000 {
            var octets = [type]
            let body = [UInt8].random(upTo: 40, using: &random)
            switch type {
            case 1: octets += (opcodes.randomElement(using: &random) ?? []) + [UInt8(body.count)] + body
            case 2: octets += [0x40, 0x20, UInt8(body.count), 0x00] + body
            case 4: octets += [0x3E, UInt8(body.count)] + body
            default: octets += body
            }
            expectCovered(octets)
            octets[Int.random(in: octets.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            expectCovered(octets)
        }
    }

    private func expectCovered(_ octets: [UInt8]) {
        let layers = layers(octets)
        #expect(layers.reduce(0) { $0 + $1.size } == octets.count)
        for layer in layers { #expect(layer.fields.flatMap(\.range) == Array(0..<layer.size)) }
    }
}
