import CoreBluetooth
import Testing

@Suite("Format arguments")
struct FormatTests {
    @Test("are replaced by the descriptions of objects, whatever formats them")
    func objects() {
        let uuid = CBUUID(string: "180D"), service = CBMutableService(type: uuid, primary: true)
        let expected = "[\(uuid)] 3 \(service)"
        #expect(String(format: "[%@] %d %@", uuid, 3, service) == expected)
        #expect(String(format: "[%@] %d %@", arguments: [uuid, 3, service]) == expected)
        #expect(NSString(format: "[%@] %d %@", uuid, 3, service) as String == expected)
        #expect(withVaList([uuid, 3, service]) { NSString(format: "[%@] %d %@", arguments: $0) as String } == expected)
    }

    @Test("may be what else a delegate is told: errors that were cast, and RSSI")
    func foreign() {
        let error: any Error = CBATTError(.readNotPermitted)
        #expect(String(format: "%@", error as NSError) == (error as NSError).description)
        #expect(String(format: "%@", error as NSError).contains("CBATTErrorDomain"))
        #expect(String(format: "%@", NSNumber(value: -40)) == "-40")
    }

    @Test("may be objects of every class", arguments: 0..<6)
    func classes(index: Int) async {
        let bench = CentralBench()
        let objects: [any CVarArg & NSObject] = [
            bench.manager, await bench.discover(name: "Lamp"), PeripheralBench().manager, CBL2CAPChannel(),
            CBMutableCharacteristic.dynamic(), CBChannelSoundingSessionConfiguration(role: .initiator),
        ]
        #expect(String(format: "%@", objects[index]) == objects[index].description)
    }
}
