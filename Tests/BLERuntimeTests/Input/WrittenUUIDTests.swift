import BLERuntime
import BLEWire
import Testing

@Suite("UUIDs in input")
struct WrittenUUIDTests {
    static let texts: [(text: String, uuid: String?)] = [
        ("180F", "180F"), ("0x180F", "180F"), ("0X180f", "180F"), ("0x0000180F", "0000180F"),
        ("0xABDD3056-28FA-441D-A470-55A75A52553A", "ABDD3056-28FA-441D-A470-55A75A52553A"),
        ("Heart Rate", "180D"), ("heart rate", "180D"), ("heart-rate", "180D"), ("HEART_RATE", "180D"),
        ("Battery", "180F"), ("Battery Service", "180F"), ("Battery Level", "2A19"),
        ("Characteristic User Description", "2901"),
        ("", nil), ("0x", nil), ("0x18", nil), ("0x0x180F", nil), ("Heart", nil), ("Service", nil),
        ("Battery  ", "180F"),
    ]

    @Test("A UUID may be preceded by 0x, or be an assigned name", arguments: texts)
    func forms(text: String, uuid: String?) {
        #expect(BluetoothUUID(written: text) == uuid.flatMap { BluetoothUUID($0) })
    }

    @Test("A name is accepted only for the requested kinds of attributes")
    func kinds() {
        #expect(BluetoothUUID(written: "Battery Level", naming: [.service]) == nil)
        #expect(BluetoothUUID(written: "Battery", naming: [.characteristic]) == nil)
        #expect(BluetoothUUID(written: "2A19", naming: [.service]) == BluetoothUUID("2A19"))
    }
}
