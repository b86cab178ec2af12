import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Advertisements as apps see them")
struct AdvertisementTests {
    private func dictionary(
        _ data: [AdvertisingData.Structure],
        for scan: ScanRequest = ScanRequest()
    ) -> [String: Any] {
        AdvertisementReport.of(CentralBench.peer, data: data).dictionary(for: scan)
    }

    @Test("hold a name, services and a power")
    func common() {
        let data = dictionary([
            .init(.completeLocalName, Array("Sensor".utf8)), .init(.completeServiceUUIDs16, [0x0D, 0x18, 0x0F, 0x18]),
            .init(.transmitPower, [0xF4]),
        ])
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Sensor")
        let services = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
        #expect(services?.map(\.uuidString) == ["180D", "180F"])
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == -12)
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
        #expect(data[CBAdvertisementDataIsConnectable] as? NSNumber == 1)
        #expect(data["kCBAdvDataTimestamp"] is NSNumber)
    }

    @Test("hold data of makers and services, and services that are looked for")
    func data() {
        let data = dictionary([
            .init(.manufacturerData, [0x4C, 0x00, 1, 2]), .init(.serviceData16, [0x0F, 0x18, 77]),
            .init(.serviceData16, [0x0D, 0x18]), .init(.solicitedServiceUUIDs16, [0x12, 0x18]),
        ])
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 1, 2]))
        let services = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        #expect(services == [CBUUID(string: "180F"): Data([77]), CBUUID(string: "180D"): Data()])
        let solicited = data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID]
        #expect(solicited == [CBUUID(string: "1812")])
    }

    @Test("hold the services of the overflow area that are scanned for")
    func overflow() {
        let services: [BluetoothUUID] = [.short(0x180D), .short(0x180F)]
        let data: [AdvertisingData.Structure] = [
            .init(.completeServiceUUIDs16, [0x0D, 0x18]),
            .init(.manufacturerData, OverflowArea(services).manufacturerData),
        ]
        let found = dictionary(data, for: ScanRequest(services: services))
        #expect(found[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
        #expect(found[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180F")])
        #expect(dictionary(data)[CBAdvertisementDataOverflowServiceUUIDsKey] == nil)
    }

    @Test("hold nothing for what was not said")
    func empty() {
        #expect(
            Set(dictionary([]).keys) == [CBAdvertisementDataIsConnectable, "kCBAdvDataTimestamp"]
        )
    }
}
