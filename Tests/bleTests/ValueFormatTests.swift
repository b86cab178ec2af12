import CoreBluetooth
import Testing

@testable import ble

@Suite("Formatted values")
struct ValueFormatTests {
    static let readings: [(uuid: String, octets: [UInt8], String?)] = [
        ("2A19", [87], "87 %"), ("2A19", [], nil), ("2A19", [1, 2], nil),
        ("2A6E", [0x66, 0x08], "21.50 °C"), ("2A6E", [0xFF, 0xFF], "-0.01 °C"), ("2A6E", [0x00, 0x80], "-327.68 °C"),
        ("2A6D", [0xCD, 0x8B, 0x0F, 0], "101882.9 Pa"), ("2A6C", [0xFE, 0xFF, 0xFF], "-0.02 m"),
        ("2A37", [0, 72], "72 bpm"), ("2A37", [1, 0x2C, 1], "300 bpm"), ("2A37", [1, 72], nil), ("2A37", [], nil),
        ("2A37", [0x16, 64, 9, 9], "64 bpm"), ("2A07", [0xF4], "-12 dBm"), ("2A29", Array("Acme".utf8), "“Acme”"),
        ("2A29", [0xFF, 0xFE], nil), ("FFF0", [1], nil),
    ]

    @Test(
        "Values of assigned characteristics are formatted, but only if they have the right length",
        arguments: readings
    )
    func assigned(uuid: String, octets: [UInt8], reading: String?) {
        #expect(ValueFormat(assignedTo: CBUUID(string: uuid))?.text(of: Data(octets)) == reading)
    }

    @Test("Plain readings have numbers with their unit, and text without quotes")
    func plain() throws {
        let temperature = try #require(ValueFormat(assignedTo: CBUUID(string: "2A6E")))
        #expect(temperature.number(of: Data([0x70, 0x08])) == Decimal(string: "21.6") && temperature.unit == " °C")
        #expect(temperature.reading(of: Data([0x70, 0x08])) == "21.60 °C")
        let name = try #require(ValueFormat(assignedTo: CBUUID(string: "2A29")))
        #expect(name.reading(of: Data("Acme".utf8)) == "Acme" && name.number(of: Data("1".utf8)) == nil)
        #expect(temperature.number(of: Data([0])) == nil)
        let large = try #require(ValueFormat(presentation: Data([0x0A, 0, 0, 0x27, 1, 0, 0])))
        #expect(large.number(of: Data(repeating: 255, count: 8)) == Decimal(string: "18446744073709551615"))
    }

    static let presentations: [(descriptor: [UInt8], octets: [UInt8], String?)] = [
        ([0x06, 0xFE, 0x2F, 0x27, 1, 0, 0], [0x10, 0x27], "100.00 °C"),
        ([0x0E, 2, 0xAD, 0x27, 1, 0, 0], [0xFF, 0xFF], "-100 %"), ([0x04, 3, 0, 0x27, 1, 0, 0], [0], "0"),
        ([0x19, 0, 0, 0x27, 1, 0, 0], Array("on".utf8), "“on”"), ([0x14, 0, 0, 0x27, 1, 0, 0], [0, 0, 0, 0], nil),
        ([0x0A, 0, 0, 0x27, 1, 0, 0], [UInt8](repeating: 255, count: 8), "18446744073709551615"),
        ([0x12, 0, 0, 0x27, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0x80], "-9223372036854775808"),
        ([0x04, 0x80, 0, 0x27, 1, 0, 0], [5], "0." + String(repeating: "0", count: 127) + "5"),
        ([0x04, 0], [5], nil), ([], [5], nil),
    ]

    @Test("A presentation format descriptor determines how a value is shown", arguments: presentations)
    func presented(descriptor: [UInt8], octets: [UInt8], reading: String?) {
        #expect(ValueFormat(presentation: Data(descriptor))?.text(of: Data(octets)) == reading)
    }
}
