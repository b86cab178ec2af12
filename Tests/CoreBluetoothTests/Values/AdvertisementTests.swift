import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of advertisement data")
struct AdvertisementTests {
    private func dictionary(
        _ data: [AdvertisingData.Structure],
        for scan: ScanRequest = ScanRequest()
    ) -> [String: Any] {
        var seen = SeenAdvertisements()
        seen.begin(scan)
        return seen.dictionary(of: .of(CentralBench.peer, data: data)) ?? [:]
    }

    @Test("The dictionary contains the name, services and transmit power")
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

    @Test("The dictionary contains manufacturer data, service data and solicited services")
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

    @Test("The dictionary contains the services of the overflow area that the scan asked for")
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

    @Test("A repeated report is described by its latest data, with its time")
    func again() throws {
        var seen = SeenAdvertisements()
        let hidden: [BluetoothUUID] = [.short(0x180D)], area = OverflowArea(hidden).manufacturerData
        let none = OverflowArea([]).manufacturerData
        let reports: [(data: [AdvertisingData.Structure], scan: ScanRequest, isConnectable: Bool)] = [
            ([.init(.completeLocalName, [0x41])], ScanRequest(), true),
            ([.init(.completeLocalName, [0x41])], ScanRequest(), true),
            ([.init(.completeLocalName, [0x42])], ScanRequest(), true),
            ([.init(.completeLocalName, [0x42])], ScanRequest(), false),
            ([.init(.manufacturerData, area)], ScanRequest(), false),
            ([.init(.manufacturerData, area)], ScanRequest(services: hidden), false),
            ([.init(.manufacturerData, area)], ScanRequest(), false),
            ([.init(.manufacturerData, none), .init(.completeLocalName, [0x41])], ScanRequest(), false),
            ([.init(.manufacturerData, area), .init(.completeLocalName, [0x41])], ScanRequest(), false),
            ([.init(.manufacturerData, none), .init(.completeLocalName, [0x41])], ScanRequest(), false),
            ([.init(.manufacturerData, none), .init(.completeLocalName, [0x42])], ScanRequest(), false),
            (
                [.init(.manufacturerData, area), .init(.completeLocalName, [0x42])], ScanRequest(services: hidden),
                false
            ),
            (
                [.init(.manufacturerData, none), .init(.completeLocalName, [0x42])], ScanRequest(services: hidden),
                false
            ),
            ([.init(.manufacturerData, [1]), .init(.completeLocalName, [0x42])], ScanRequest(), false),
            ([.init(.manufacturerData, [1, 2]), .init(.completeLocalName, [0x42])], ScanRequest(), false),
        ]
        var times: [Double] = [], kept: [[String: Any]] = []
        for given in reports {
            let report = AdvertisementReport.of(
                CentralBench.peer,
                isConnectable: given.isConnectable,
                data: given.data
            )
            let expected = report.dictionary(for: given.scan)
            seen.begin(given.scan)
            guard var told = seen.dictionary(of: report) else {
                #expect(expected == nil)
                continue
            }
            kept.append(told)
            let time = try #require(told.removeValue(forKey: AdvertisementReport.timestampKey) as? NSNumber)
            times.append(time.doubleValue)
            #expect(told as NSDictionary == expected as NSDictionary?)
        }
        #expect(times == times.sorted())
        // What an app keeps does not change when the device is heard again.
        let keptTimes = kept.map { ($0[AdvertisementReport.timestampKey] as? NSNumber)?.doubleValue }
        #expect(keptTimes == times)
    }

    @Test(
        "The latest data of both packets is reported, whichever of them has changed",
        arguments: 0..<16 as Range<UInt64>
    )
    func packets(seed: UInt64) {
        var random = SeededGenerator(seed: seed), seen = SeenAdvertisements()
        func packet() -> [UInt8] {
            let number = UInt8.random(in: 0...1, using: &random)
            let parts: [[UInt8]] = [
                [4, 0xFF, 0x4C, 0, number], [4, 0xFF, 0x59, 0, number], [2, 0x09, 0x41 + number],
                [4, 0x16, 0x0D, 0x18, 7],
                [0], [2, 0xFF, number],
            ]
            return (0..<Int.random(in: 0...2, using: &random)).flatMap { _ in parts.randomElement(using: &random) ?? []
            }
        }
        for _ in 0..<1_000 {
            let report = AdvertisementReport(
                peer: CentralBench.peer,
                address: .none,
                isConnectable: true,
                rssi: .unavailable,
                octets: AdvertisementOctets(advertisement: packet(), scanResponse: packet())
            )
            let expected = report.dictionary(for: ScanRequest()), told = seen.dictionary(of: report)
            let withoutTime = told?.filter { $0.key != AdvertisementReport.timestampKey }
            #expect(withoutTime as NSDictionary? == expected as NSDictionary?)
        }
    }

    @Test("A report found for an earlier scan with other services is not delivered")
    func outdated() {
        var seen = SeenAdvertisements()
        let report = AdvertisementReport.of(
            CentralBench.peer,
            data: [.init(.completeServiceUUIDs16, [0x0D, 0x18]), .init(.completeLocalName, [0x41])]
        )
        let scans: [(scan: ScanRequest, isTold: Bool)] = [
            (ScanRequest(services: [.short(0x180D)]), true), (ScanRequest(services: [.short(0x180F)]), false),
            (ScanRequest(), true), (ScanRequest(solicitedServices: [.short(0x180D)]), true),
            (ScanRequest(namePrefix: "A"), true), (ScanRequest(namePrefix: "B"), false), (ScanRequest(), true),
        ]
        for (scan, isTold) in scans {
            seen.begin(scan)
            let told = seen.dictionary(of: report)
            #expect((told != nil) == isTold, "\(scan)")
        }
    }

    @Test("The oldest reports are forgotten when there are too many, and reported again later")
    func many() {
        var seen = SeenAdvertisements()
        for number in 0..<(3 * SeenAdvertisements.limit) {
            let peer = PeerIdentifier(rawValue: UInt128(number))
            let report = AdvertisementReport.of(peer, data: [.init(.completeLocalName, Array("\(number)".utf8))])
            #expect(
                seen.dictionary(of: report)?[CBAdvertisementDataLocalNameKey] as? String
                    == "\(number)"
            )
        }
    }

    @Test("The dictionary contains no keys for what was not sent")
    func empty() {
        #expect(
            Set(dictionary([]).keys) == [CBAdvertisementDataIsConnectable, "kCBAdvDataTimestamp"]
        )
    }
}
