import BLESimulation
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of scanning")
struct ScanBehaviourTests {
    let bench = WorldBench()
    private let heartRate = CBUUID(string: "180D"), battery = CBUUID(string: "180F"), other = CBUUID(string: "FFE0")

    private var found: [String] { bench.app.take().filter { $0.hasPrefix("discovered") } }

    @Test("isScanning is true from the call until the scan stops or the radio is lost", .behaviour("1.2.3", "1.2.12"))
    func isScanning() async {
        await bench.wait()
        #expect(!bench.central.isScanning)
        bench.central.scanForPeripherals(withServices: nil)
        #expect(bench.central.isScanning)
        bench.central.stopScan()
        #expect(!bench.central.isScanning)
        bench.server.startAdvertising(nil)
        await bench.wait(5)
        #expect(found.isEmpty)
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait()
        #expect(found.count == 1)
        bench.phone.switchBluetoothOff()
        await bench.wait()
        #expect(!bench.central.isScanning)
    }

    @Test("Only available features are supported, once a manager is powered on", .behaviour("1.2.4"))
    func features() async {
        func supports(_ features: CBCentralManager.Feature) -> Bool {
            bench.phone.inhabit { CBCentralManager.supports(features) }
        }
        var heard: [Bool] = []
        bench.app.reactions = [("state 5", { heard.append(CBCentralManager.supports(.extendedScanAndConnect)) })]
        #expect(!supports(.extendedScanAndConnect))
        await bench.wait()
        #expect(heard == [true])
        #expect(supports(.extendedScanAndConnect))
        #expect(bench.world.machine("phone").inhabit { CBCentralManager.supports(.extendedScanAndConnect) })
        #expect(!bench.sensor.inhabit { CBCentralManager.supports(.extendedScanAndConnect) })
        #expect(!supports(.channelSounding))
        #expect(!supports([.channelSounding, .extendedScanAndConnect]))
        #expect(supports([]))
    }

    @Test(
        "A scan finds devices that advertise any of the services, and all devices without a list",
        .behaviour("1.2.9"),
        arguments: [
            (["180D"], 1), (["180D", "FFE0"], 1), (["FFE0"], 0), (["180F"], 1), ([], 1), (nil, 1),
        ] as [([String]?, Int)]
    )
    func filter(services: [String]?, count: Int) async {
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [heartRate, battery]])
        bench.central.scanForPeripherals(withServices: services?.map(CBUUID.init(string:)))
        await bench.wait(5)
        #expect(found.count == count)
    }

    @Test("Devices that solicit a service are found if the app requests it", .behaviour("1.2.10"))
    func solicited() async {
        await bench.wait()
        Beacon(in: bench.world).advertise([3, 0x14, 0x0D, 0x18])
        bench.central.scanForPeripherals(withServices: [heartRate])
        await bench.wait()
        #expect(found.isEmpty)
        let option = [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [heartRate]]
        bench.central.scanForPeripherals(withServices: [other], options: option)
        await bench.wait()
        #expect(found.count == 1)
        let advertised = bench.app.advertisements[0]
        #expect(advertised[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [heartRate])
    }

    @Test("A scan for all devices finds all, whatever its option for solicited services", .behaviour("1.2.9", "1.2.10"))
    func solicitedOrNot() async {
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [other]])
        Beacon(in: bench.world).advertise([3, 0x14, 0x0D, 0x18])
        let option = [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [heartRate]]
        for services in [nil, []] as [[CBUUID]?] {
            bench.central.scanForPeripherals(withServices: services, options: option)
            await bench.wait(5)
            #expect(found.count == 2)
        }
    }

    @Test(
        "A peripheral is reported once per scan, and again in the next one, which has its own services",
        .behaviour("1.2.11", "4.3.1"),
        arguments: UInt64(0)..<16
    )
    func once(seed: UInt64) async {
        let bench = WorldBench(seed: seed, loss: 0.1)
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [heartRate]])
        bench.central.scanForPeripherals(withServices: [heartRate])
        await bench.wait(10)
        #expect(bench.app.take().count { $0.hasPrefix("discovered") } == 1)
        bench.central.scanForPeripherals(withServices: [heartRate])
        await bench.wait(10)
        #expect(bench.app.take().count { $0.hasPrefix("discovered") } == 1)
        bench.central.scanForPeripherals(withServices: [battery])
        await bench.wait(10)
        #expect(bench.app.take().count { $0.hasPrefix("discovered") } == 0)
    }

    @Test("A late scan response is reported once more", .behaviour("4.3.1"))
    func lateResponse() async {
        await bench.wait()
        let beacon = Beacon(in: bench.world)
        beacon.advertise([3, 0x03, 0x0D, 0x18], .scannable)
        bench.central.scanForPeripherals(withServices: [heartRate])
        await bench.wait(5)
        let before = bench.app.advertisements.count
        #expect(before == 1)
        #expect(bench.app.advertisements[0][CBAdvertisementDataLocalNameKey] == nil)
        beacon.advertise([3, 0x03, 0x0D, 0x18], response: [3, 0x09, 0x48, 0x69], .scannable)
        bench.central.scanForPeripherals(withServices: [heartRate])
        await bench.wait(20)
        #expect(bench.app.advertisements.last?[CBAdvertisementDataLocalNameKey] as? String == "Hi")
        #expect(bench.app.advertisements.count <= before + 2)
    }

    @Test("The advertisement and the scan response are reported together", .behaviour("2.1.6"))
    func merged() async {
        await bench.wait()
        let data: [UInt8] = [2, 0x01, 0x06, 3, 0x03, 0x0D, 0x18, 2, 0x0A, 0xF4]
        let response: [UInt8] = [3, 0x09, 0x48, 0x69, 4, 0x16, 0x0F, 0x18, 99, 4, 0xFF, 0x34, 0x12, 1]
        Beacon(in: bench.world).advertise(data, response: response)
        bench.central.scanForPeripherals(withServices: [heartRate])
        await bench.wait()
        #expect(bench.app.advertisements.count == 1)
        let found = bench.app.advertisements[0]
        #expect(found[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [heartRate])
        #expect(found[CBAdvertisementDataTxPowerLevelKey] as? Int == -12)
        #expect(found[CBAdvertisementDataLocalNameKey] as? String == "Hi")
        #expect(found[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] == [battery: Data([99])])
        #expect(found[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x34, 0x12, 1]))
        #expect(found[CBAdvertisementDataIsConnectable] as? Bool == true)
    }

    @Test("With duplicates allowed, every packet is reported", .behaviour("4.3.2"), arguments: UInt64(0)..<16)
    func duplicates(seed: UInt64) async {
        let bench = WorldBench(seed: seed), log = PacketLog(bench.world)
        await bench.wait()
        Beacon(in: bench.world).advertise([3, 0x03, 0x0D, 0x18], .nonConnectable)
        let option = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        bench.central.scanForPeripherals(withServices: [heartRate], options: option)
        await bench.wait(10)
        let count = bench.app.take().count { $0.hasPrefix("discovered") }
        #expect(count > 50)
        #expect(count == log.reports(to: "phone"))
    }

    @Test("Each report tells whether that packet is connectable", .behaviour("4.3.4"))
    func connectable() async {
        await bench.wait()
        let beacon = Beacon(in: bench.world)
        let option = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        bench.central.scanForPeripherals(withServices: nil, options: option)
        for type in [HCI.AdvertisingType.connectable, .scannable, .nonConnectable, .connectable] {
            beacon.advertise([2, 0x01, 0x06], type)
            await bench.wait()
            let latest = bench.app.advertisements.last?[CBAdvertisementDataIsConnectable] as? Bool
            #expect(latest == (type == .connectable))
        }
    }

    @Test("Beacons in Apple's format are reported unchanged", .behaviour("4.3.5"))
    func appleBeacon() async {
        await bench.wait()
        let frame: [UInt8] = [0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 7, count: 21)
        Beacon(in: bench.world).advertise([2, 0x01, 0x06, 26, 0xFF] + frame, .nonConnectable)
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait()
        #expect(bench.app.advertisements.first?[CBAdvertisementDataManufacturerDataKey] as? Data == Data(frame))
    }

    @Test("A peripheral that the app does not retain is deallocated", .behaviour("4.3.3", "1.2.14"))
    func notKept() async {
        await bench.publish(.dynamic())
        bench.central.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        bench.central.stopScan()
        weak let peripheral = bench.app.peripherals.first
        if let peripheral { bench.central.connect(peripheral) }
        bench.app.forget()
        #expect(peripheral == nil)
        let lines = bench.lines.take()
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("API MISUSE: Cancelling connection for unused peripheral <CBPeripheral: 0x"))
        #expect(lines[0].hasSuffix(">, Did you forget to keep a reference to it?"))
        #expect(bench.world.findings.map(\.rule) == [.unretainedPeripheral])
        _ = bench.app.take()
        await bench.wait(5)
        #expect(bench.app.take().isEmpty)
        #expect(bench.serverApp.take().allSatisfy { !$0.hasPrefix("subscribed") })
    }
}
