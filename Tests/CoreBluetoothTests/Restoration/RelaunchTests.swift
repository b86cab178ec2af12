import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Launches of an app with state restoration")
struct RelaunchTests {
    /// What happens to an app.
    enum Fate: CaseIterable {
        case crash, terminatedBySystem, restart, radioReturns, quitByUser, switchedOff, terminatedAsleep

        var isLaunchedAgain: Bool {
            switch self {
            case .crash, .terminatedBySystem, .restart, .radioReturns: true
            case .quitByUser, .switchedOff, .terminatedAsleep: false
            }
        }
    }

    @Test("After a relaunch, as many connections fail as requested")
    func failingConnections() async throws {
        let bench = WorldBench(), first = RestoringApp(), app = RestoringApp()
        await bench.publish(.dynamic())
        bench.lines.collect(bench.phone) { first.start(centrals: ["it"]) }
        await bench.wait()
        bench.phone.endApps(.crash)
        bench.lines.collect(bench.phone) { app.start(centrals: ["it"]) }
        await bench.wait()
        app.central?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        app.central?.stopScan()
        let peripheral = try #require(app.peripherals.first)
        var faults = Machine.Faults()
        faults.failedConnections = 1
        bench.phone.cause(faults)
        _ = app.take()
        for _ in 0..<2 {
            app.central?.connect(peripheral)
            await bench.wait(5)
        }
        #expect(app.take() == ["failed CBError 10", "connected"])
    }

    @Test(
        "An app is relaunched after a crash, restart or radio loss, but not if the user ended it or Bluetooth",
        .behaviour("4.9.5"),
        arguments: Fate.allCases
    )
    func fates(fate: Fate) async throws {
        let bench = WorldBench(), first = RestoringApp(), launches = Launches()
        await bench.publish(.dynamic())
        bench.lines.collect(bench.phone) { first.start(centrals: ["it"]) }
        await bench.wait()
        first.central?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        bench.world.separate(bench.phone, bench.sensor)
        first.central?.connect(try #require(first.peripherals.first))
        await bench.wait()
        launches.follow(bench.phone)
        switch fate {
        case .crash: bench.phone.endApps(.crash)
        case .terminatedBySystem: bench.phone.endApps(.terminatedBySystem)
        case .quitByUser: bench.phone.endApps(.quitByUser)
        case .restart: bench.phone.restart()
        case .radioReturns:
            bench.phone.endApps(.crash)
            await bench.wait()
            bench.phone.unplugRadio()
            await bench.wait()
            bench.phone.plugInRadio()
        case .switchedOff:
            bench.phone.endApps(.crash)
            await bench.wait()
            bench.phone.switchBluetoothOff()
            await bench.wait()
            bench.phone.switchBluetoothOn()
        case .terminatedAsleep:
            bench.phone.sendAppsToBackground(declaring: .peripheral)
            await bench.wait()
            bench.phone.endApps(.terminatedBySystem)
            bench.phone.bringAppsToForeground()
        }
        await bench.wait(30)
        #expect(launches.launches.isEmpty)
        bench.world.rejoin(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(launches.launches == (fate.isLaunchedAgain ? [.init(centrals: ["it"])] : []))
        if fate.isLaunchedAgain {
            #expect(launches.app?.take().contains("connected") == true)
        } else {
            let next = RestoringApp()
            bench.lines.collect(bench.phone) { next.start(centrals: ["it"]) }
            await bench.wait()
            #expect(next.take() == ["state 5"])
        }
    }

    @Test(
        "An app that is launched without a radio neither scans nor connects when the radio returns",
        .behaviour("4.9.5"),
        arguments: 1...16
    )
    func launchedWithoutRadio(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed), first = RestoringApp()
        await bench.publish(.dynamic())
        bench.lines.collect(bench.phone) { first.start(centrals: ["it"]) }
        await bench.wait()
        first.central?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        bench.world.separate(bench.phone, bench.sensor)
        first.central?.connect(try #require(first.peripherals.first))
        await bench.wait()
        bench.phone.endApps(.crash)
        bench.phone.unplugRadio()
        await bench.wait()
        let app = RestoringApp()
        bench.lines.collect(bench.phone) { app.start(centrals: ["it"]) }
        await bench.wait()
        #expect(app.central?.isScanning == false)
        #expect(app.peripherals.map(\.state) == [.disconnected])
        bench.world.rejoin(bench.phone, bench.sensor)
        let log = PacketLog(bench.world)
        bench.phone.plugInRadio()
        await bench.wait(5)
        #expect(app.central?.isScanning == false)
        #expect(!log.isScanning("phone"))
        #expect(log.firstIntervals(of: "phone").isEmpty)
        #expect(app.take().dropFirst() == ["state 2", "state 5"])
    }

    @Test("A restarted machine serves and connects as before", .behaviour("4.9.5"), arguments: 1...16)
    func restart(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed), server = RestoringApp(), central = RestoringApp()
        let servers = Launches(), centrals = Launches()
        bench.lines.collect(bench.sensor) { server.start(peripherals: ["server"]) }
        bench.lines.collect(bench.phone) { central.start(centrals: ["central"]) }
        await bench.wait()
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [CBMutableCharacteristic.dynamic()]
        server.server?.add(service)
        server.server?.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service.uuid]])
        central.central?.scanForPeripherals(withServices: [service.uuid])
        await bench.wait()
        central.central?.stopScan()
        let peripheral = try #require(central.peripherals.first)
        central.central?.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.state == .connected)
        servers.follow(bench.sensor)
        centrals.follow(bench.phone)
        bench.phone.restart()
        bench.sensor.restart()
        await bench.wait(60)
        let again = try #require(centrals.app)
        #expect(again.take().dropFirst().prefix(2) == ["state 5", "connected"])
        let same = try #require(again.peripherals.first { $0.identifier == peripheral.identifier })
        #expect(same.state == .connected)
        same.discoverServices(nil)
        await bench.wait()
        same.discoverCharacteristics(nil, for: try #require(same.services?.first))
        await bench.wait()
        same.readValue(for: try #require(same.characteristic("2A37")))
        await bench.wait(5)
        #expect(servers.app?.take().contains("read 2A37") == true)
        #expect(again.take() == ["value [7] ok"])
    }

    @Test("A restore identifier without the background mode ends the program", .behaviour("4.8.7"))
    func mode() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("BLUETOOTH_BACKGROUND_MODES", "bluetooth-peripheral", 1)
            let options = [CBCentralManagerOptionRestoreIdentifierKey: "it"]
            _ = World(seed: 1).inhabit { CBCentralManager(delegate: nil, queue: nil, options: options) }
            exit(0)
        }
        #expect(complaint(result).contains("bluetooth-central"))
        await #expect(processExitsWith: .success) {
            setenv("BLUETOOTH_BACKGROUND_MODES", "bluetooth-peripheral", 1)
            let options = [CBPeripheralManagerOptionRestoreIdentifierKey: "it"]
            _ = World(seed: 1).inhabit { CBPeripheralManager(delegate: nil, queue: nil, options: options) }
            _ = World(seed: 1).inhabit { CBCentralManager(delegate: nil, queue: nil) }
            exit(0)
        }
    }

    @Test("A world in real time also launches apps", .behaviour("4.9.5"), .timeLimit(.minutes(30)))
    func inRealTime() async throws {
        let bench = WorldBench(), first = RestoringApp(), lines = Lines()
        await bench.publish(.dynamic())
        bench.lines.collect(bench.phone) { first.start(centrals: ["it"]) }
        await bench.wait()
        bench.world.separate(bench.phone, bench.sensor)
        first.central?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        bench.phone.endApps(.crash)
        bench.world.rejoin(bench.phone, bench.sensor)
        let app = await withCheckedContinuation { continuation in
            bench.phone.onLaunch { [phone = bench.phone] launch in
                let app = RestoringApp()
                // Nobody else keeps the app.
                app.onDiscovery = {
                    app.onDiscovery = {}
                    continuation.resume(returning: LockedBox(app))
                }
                lines.collect(phone) { app.start(centrals: launch.centrals) }
            }
            bench.world.runInRealTime()
        }
        #expect(app.current.take() == ["restore [\"kCBRestoredScanServices\"]", "state 5", "discovered"])
    }

    @Test("A session with too many waiting events loses the oldest ones, and goes on")
    func tooMuch() async throws {
        let bench = WorldBench(), first = RestoringApp(), value = CBMutableCharacteristic.dynamic()
        await bench.publish(value)
        bench.lines.collect(bench.phone) { first.start(centrals: ["it"]) }
        await bench.wait()
        first.central?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait()
        let peripheral = try #require(first.peripherals.first)
        first.central?.connect(peripheral)
        await bench.explore(peripheral)
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        bench.phone.endApps(.crash)
        for _ in 0..<40 {
            for _ in 0..<32 { _ = bench.server.updateValue(Data([1]), for: value, onSubscribedCentrals: nil) }
            await bench.wait()
        }
        #expect(value.subscribedCentrals?.count == 1)
        let next = RestoringApp()
        bench.lines.collect(bench.phone) { next.start(centrals: ["it"]) }
        await bench.wait()
        let calls = next.take()
        #expect(
            calls.prefix(2) == ["restore [\"kCBRestoredPeripherals\", \"kCBRestoredScanServices\"]", "state 5"]
        )
        #expect(calls.count == 2 + 1_024 && calls.dropFirst(2).allSatisfy { $0 == "value [1] ok" })
    }
}
