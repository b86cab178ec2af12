import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of advertising and background mode")
struct AdvertisingBehaviourTests {
    let bench = WorldBench()

    private func uuids(_ numbers: some Sequence<Int>) -> [CBUUID] {
        numbers.map { CBUUID(string: String(0xF000 + $0, radix: 16)) }
    }

    /// What a scan for `services` finds of the sensor.
    private func scan(for services: [CBUUID]? = nil) async -> [String: Any]? {
        let count = bench.app.advertisements.count
        bench.central.scanForPeripherals(withServices: services)
        await bench.wait()
        bench.central.stopScan()
        return bench.app.advertisements.count > count ? bench.app.advertisements.last : nil
    }

    @Test("Advertising starts with a callback and stops immediately", .behaviour("1.3.1", "1.3.3", "1.3.4"))
    func startAndStop() async {
        await bench.wait()
        _ = bench.serverApp.take()
        bench.server.startAdvertising(nil)
        #expect(!bench.server.isAdvertising)
        await bench.wait()
        #expect(bench.serverApp.take() == ["advertising ok true"])
        #expect(await scan() != nil)
        bench.server.stopAdvertising()
        #expect(!bench.server.isAdvertising)
        await bench.wait()
        #expect(await scan() == nil)
        #expect(bench.serverApp.take().isEmpty)
    }

    @Test("Advertising that failed because the radio was lost does not start when it is back", .behaviour("1.3.3"))
    func startWithoutRadio() async {
        await bench.wait()
        _ = bench.serverApp.take()
        bench.sensor.switchBluetoothOff()
        bench.server.startAdvertising(nil)
        await bench.wait()
        #expect(bench.serverApp.take() == ["state 4", "advertising CBError 3 false"])
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        #expect(!bench.server.isAdvertising)
        #expect(await scan() == nil)
        bench.server.startAdvertising(nil)
        await bench.wait()
        #expect(bench.serverApp.take() == ["state 5", "advertising ok true"])
    }

    @Test("Starting again without stopping fails", .behaviour("4.5.7"))
    func twice() async {
        await bench.wait()
        _ = bench.serverApp.take()
        bench.server.startAdvertising([CBAdvertisementDataLocalNameKey: "One"])
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataLocalNameKey: "Two"])
        await bench.wait()
        #expect(bench.serverApp.take() == ["advertising ok true", "advertising CBError 9 true"])
        #expect(await scan()?[CBAdvertisementDataLocalNameKey] as? String == "One")
    }

    @Test(
        "A value of the wrong type fails",
        .behaviour("4.5.8"),
        arguments: [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
    )
    func wrongType(key: String) async {
        await bench.wait()
        _ = bench.serverApp.take()
        bench.server.startAdvertising([key: key == CBAdvertisementDataLocalNameKey ? 7 : CBUUID(string: "180D")])
        await bench.wait()
        #expect(bench.serverApp.take() == ["advertising CBError 1 false"])
    }

    @Test("Other keys are ignored with a warning", .behaviour("4.5.1"))
    func otherKeys() async {
        await bench.wait()
        bench.server.startAdvertising([
            CBAdvertisementDataLocalNameKey: "One", CBAdvertisementDataManufacturerDataKey: Data([1, 2, 3]),
        ])
        await bench.wait()
        let lines = bench.lines.take()
        #expect(
            lines == ["WARNING: The advertisement data key kCBAdvDataManufacturerData is not allowed and is ignored"]
        )
        let found = await scan()
        #expect(found?[CBAdvertisementDataLocalNameKey] as? String == "One")
        #expect(found?[CBAdvertisementDataManufacturerDataKey] == nil)
    }

    @Test(
        "28 octets of services and name are advertised, and of a longer name 10 octets",
        .behaviour("4.5.2"),
        arguments: [
            (14, "", ""), (14, "1234567890", "1234567890"), (14, "12345678901", "1234567890"),
            (4, "12345678901234567890", "12345678901234567890"), (4, "123456789012345678901", "1234567890"),
            (0, "1234567890123456789012345678", "1234567890123456789012345678"),
            (0, "12345678901234567890123456789", "1234567890"),
        ]
    )
    func budget(services: Int, name: String, seen: String) async {
        await bench.wait()
        bench.server.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: uuids(0..<services),
        ])
        let found = await scan()
        let advertised = found?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        #expect(Set(advertised) == Set(uuids(0..<services)))
        #expect(found?[CBAdvertisementDataLocalNameKey] as? String ?? "" == seen)
        #expect(found?[CBAdvertisementDataOverflowServiceUUIDsKey] == nil)
    }

    @Test(
        "A service is advertised in its UUID's original form, and found with any form",
        .behaviour("1.10.1"),
        arguments: [("180D", 2), ("0000180D", 4), ("0000180D-0000-1000-8000-00805F9B34FB", 16)]
    )
    func form(text: String, count: Int) async throws {
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: text)]])
        let found = try #require(await scan(for: [CBUUID(string: "180D")]))
        let services = try #require(found[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])
        #expect(services.map(\.data.count) == [count])
        #expect(services.map(\.uuidString) == [text])
    }

    @Test("Services beyond the budget are found by scans for them", .behaviour("4.5.3"))
    func overflow() async {
        await bench.wait()
        let services = uuids(0..<20)
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: services])
        let plain = await scan()
        #expect((plain?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])?.count == 14)
        #expect(plain?[CBAdvertisementDataOverflowServiceUUIDsKey] == nil)
        let found = await scan(for: [services[19]])
        #expect(found?[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [services[19]])
        #expect(await scan(for: [CBUUID(string: "180D")]) == nil)
    }

    @Test("The apps of a machine share its advertisement and its services", .behaviour("4.5.6"))
    func shared() async throws {
        let other = bench.anotherServer(), type = CBUUID(string: "FFE0")
        await bench.publish(.dynamic())
        other.manager.add(CBMutableService(type: type, primary: true))
        other.manager.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [type], CBAdvertisementDataLocalNameKey: "Both",
        ])
        await bench.wait()
        let found = await scan()
        #expect(found?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "FFF0"), type])
        #expect(found?[CBAdvertisementDataLocalNameKey] as? String == "Both")
        #expect(bench.app.peripherals.count == 1)
        let peripheral = try #require(bench.app.peripherals.first)
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid) == [CBUUID(string: "FFF0"), type])
        other.manager.stopAdvertising()
        #expect(bench.server.isAdvertising)
    }

    @Test(
        "In the background the name is not advertised, and services are in the overflow area",
        .behaviour("4.5.4", "4.10.2")
    )
    func background() async throws {
        await bench.publish(.dynamic())
        await bench.wait()
        bench.sensor.sendAppsToBackground(declaring: .peripheral)
        await bench.wait()
        let plain = await scan()
        #expect(plain?[CBAdvertisementDataServiceUUIDsKey] == nil)
        #expect(plain?[CBAdvertisementDataLocalNameKey] == nil)
        let found = await scan(for: [CBUUID(string: "FFF0")])
        #expect(found?[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "FFF0")])
        let peripheral = try #require(bench.app.peripherals.first)
        bench.central.connect(peripheral)
        await bench.explore(peripheral)
        peripheral.readValue(for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        #expect(bench.serverApp.reads.count == 1)
        bench.central.cancelPeripheralConnection(peripheral)
        bench.sensor.bringAppsToForeground()
        await bench.wait()
        #expect(await scan()?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "FFF0")])
    }

    @Test(
        "Without its background mode, an app does not advertise, and its services return an error",
        .behaviour("4.5.5", "4.10.4")
    )
    func suspendedServer() async throws {
        let peripheral = try #require(await bench.connect(.dynamic()))
        let found = try #require(peripheral.characteristic("2A37"))
        bench.sensor.sendAppsToBackground(declaring: .central)
        await bench.wait()
        #expect(await scan() == nil)
        peripheral.readValue(for: found)
        peripheral.writeValue(Data([1]), for: found, type: .withResponse)
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [] CBATTError 14", "written 2A37 CBATTError 14"])
        #expect(bench.serverApp.take().isEmpty)
        bench.sensor.bringAppsToForeground()
        await bench.wait()
        peripheral.readValue(for: found)
        await bench.wait()
        #expect(bench.serverApp.take() == ["read 2A37 0"])
    }

    @Test("A Live Activity keeps foreground behaviour for the declared roles", .behaviour("4.10.6"))
    func liveActivity() async throws {
        await bench.publish(.dynamic())
        await bench.wait()
        bench.sensor.sendAppsToBackground(declaring: [.peripheral, .liveActivity])
        bench.phone.sendAppsToBackground(declaring: [.central, .liveActivity])
        await bench.wait()
        #expect(await scan()?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "FFF0")])
        bench.sensor.sendAppsToBackground(declaring: .peripheral)
        await bench.wait()
        #expect(await scan()?[CBAdvertisementDataServiceUUIDsKey] == nil)
        bench.sensor.sendAppsToBackground(declaring: [.central, .liveActivity])
        await bench.wait()
        #expect(await scan() == nil)
    }

    @Test(
        "In the background a scan must name services, and duplicates are not reported",
        .behaviour("1.2.25", "4.10.1")
    )
    func backgroundScan() async throws {
        await bench.publish(.dynamic())
        await bench.wait()
        bench.phone.sendAppsToBackground(declaring: .central)
        await bench.wait()
        #expect(await scan() == nil)
        bench.central.scanForPeripherals(
            withServices: [CBUUID(string: "FFF0")],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        )
        await bench.wait(10)
        bench.central.stopScan()
        #expect(bench.app.advertisements.count == 1)
        let peripheral = try #require(bench.app.peripherals.first)
        _ = bench.app.take()
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(bench.app.take() == ["connected 2", "name sensor", "services ok"])
    }

    @Test(
        "In the background an app scans and advertises less often, and is still found",
        .behaviour("4.10.10"),
        arguments: 0..<16 as Range<UInt64>
    )
    func slower(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed), service = CBUUID(string: "FFF0")
        await bench.publish(.dynamic())
        /// How often the sensor is heard in a quarter of a minute.
        func reports() async -> Int {
            let before = bench.app.advertisements.count
            let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
            bench.central.scanForPeripherals(withServices: [service], options: options)
            await bench.wait(15)
            bench.central.stopScan()
            return bench.app.advertisements.count - before
        }
        let often = await reports()
        bench.sensor.sendAppsToBackground(declaring: .peripheral)
        await bench.wait()
        let seldom = await reports()
        #expect(seldom > 0 && seldom * 2 < often)
        bench.sensor.bringAppsToForeground()
        bench.phone.sendAppsToBackground(declaring: .central)
        await bench.wait()
        // There each device is told of once.
        #expect(await reports() == 1)
    }

    @Test(
        "Without a background mode, an app receives past events in order once in the foreground",
        .behaviour("4.10.3")
    )
    func suspendedClient() async throws {
        let sending = CBMutableCharacteristic.dynamic()
        let peripheral = try #require(await bench.connect(sending))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        _ = bench.app.take()
        bench.phone.sendAppsToBackground(declaring: [])
        await bench.wait()
        for number in UInt8(0)..<3 {
            #expect(bench.server.updateValue(Data([number]), for: sending, onSubscribedCentrals: nil))
        }
        await bench.wait()
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(bench.app.take().isEmpty)
        #expect(peripheral.state == .connected)
        bench.phone.bringAppsToForeground()
        await bench.wait()
        #expect(bench.app.take() == (0..<3).map { "value 2A37 [\($0)] ok" } + ["disconnected CBError 6 0"])
    }

    @Test("A process is in the foreground unless it declares background modes", .behaviour("4.10.5"))
    func declaration() async {
        await bench.publish(.dynamic())
        #expect(await scan() != nil)
        await #expect(processExitsWith: .success) {
            setenv("BLUETOOTH_BACKGROUND_MODES", "bluetooth-central", 1)
            let bench = WorldBench()
            await bench.publish(.dynamic())
            bench.central.scanForPeripherals(withServices: nil)
            await bench.wait(5)
            // Nothing is advertised without the mode for it, and a scan has to name services.
            guard bench.app.advertisements.isEmpty else { exit(1) }
            let foreground = WorldBench(seed: 2)
            unsetenv("BLUETOOTH_BACKGROUND_MODES")
            let server = foreground.anotherServer()
            await foreground.wait()
            server.manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFE0")]])
            foreground.central.scanForPeripherals(withServices: [CBUUID(string: "FFE0")])
            await foreground.wait(5)
            exit(foreground.app.advertisements.count == 1 ? 0 : 2)
        }
    }
}
