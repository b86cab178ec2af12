import CoreBluetooth
import Testing

@Suite("Format arguments")
struct FormatTests {
    @Test("Format arguments are replaced by the descriptions of objects, in every formatting function")
    func objects() {
        let uuid = CBUUID(string: "180D"), service = CBMutableService(type: uuid, primary: true)
        let expected = "[\(uuid)] 3 \(service)"
        #expect(String(format: "[%@] %d %@", uuid, 3, service) == expected)
        #expect(String(format: "[%@] %d %@", arguments: [uuid, 3, service]) == expected)
        #expect(NSString(format: "[%@] %d %@", uuid, 3, service) as String == expected)
        #expect(withVaList([uuid, 3, service]) { NSString(format: "[%@] %d %@", arguments: $0) as String } == expected)
    }

    @Test("Cast errors and the RSSI can also be format arguments")
    func foreign() {
        let error: any Error = CBATTError(.readNotPermitted)
        #expect(String(format: "%@", error as NSError) == (error as NSError).description)
        #expect(String(format: "%@", error as NSError).contains("CBATTErrorDomain"))
        #expect(String(format: "%@", NSNumber(value: -40)) == "-40")
    }

    @Test("Objects of every class can be format arguments", arguments: 0..<6)
    func classes(index: Int) async {
        let bench = CentralBench()
        let objects: [any CVarArg & NSObject] = [
            bench.manager, await bench.discover(name: "Lamp"), PeripheralBench().manager, CBL2CAPChannel(),
            CBMutableCharacteristic.dynamic(), CBChannelSoundingSessionConfiguration(role: .initiator),
        ]
        #expect(String(format: "%@", objects[index]) == objects[index].description)
    }
}
