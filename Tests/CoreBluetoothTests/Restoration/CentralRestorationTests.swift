import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("A central manager of a relaunched app")
struct CentralRestorationTests {
    private let service = CBUUID(string: "FFF0")
    private let launches = Launches()
    private let first = RestoringApp()

    /// A world in which `first` runs on the phone.
    private func bench(seed: UInt64 = 1, loss: Double = 0) async -> WorldBench {
        let bench = WorldBench(seed: seed, loss: loss)
        bench.lines.collect(bench.phone) { first.start(centrals: ["it"]) }
        await bench.wait()
        return bench
    }

    /// Finds the peripheral that `bench` publishes.
    private func find(_ bench: WorldBench) async throws -> CBPeripheral {
        let central = try #require(first.central)
        central.scanForPeripherals(withServices: [service])
        await bench.wait()
        central.stopScan()
        return try #require(first.peripherals.first)
    }

    /// Connects, discovers everything and subscribes.
    private func subscribe(_ bench: WorldBench, to characteristic: CBMutableCharacteristic) async throws {
        characteristic.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Heart")]
        await bench.publish(characteristic)
        let peripheral = try await find(bench)
        first.central?.connect(peripheral)
        await bench.explore(peripheral)
        let value = try #require(peripheral.characteristic("2A37"))
        peripheral.discoverDescriptors(for: value)
        peripheral.setNotifyValue(true, for: value)
        await bench.wait()
        _ = (first.take(), bench.serverApp.take())
    }

    @Test(
        "Connections are restored with all discovered objects, and missed notifications arrive in order",
        .behaviour("1.2.26", "2.1.4", "4.9.3"),
        arguments: 1...16
    )
    func connected(seed: UInt64) async throws {
        let bench = await bench(seed: seed, loss: 0.1), value = CBMutableCharacteristic.dynamic()
        try await subscribe(bench, to: value)
        let identifier = first.peripherals[0].identifier
        launches.follow(bench.phone)
        bench.phone.endApps(.crash)
        for octet in UInt8(1)...3 {
            #expect(bench.server.updateValue(Data([octet]), for: value, onSubscribedCentrals: nil))
        }
        await bench.wait(5)
        let app = try #require(launches.app)
        #expect(launches.launches == [.init(centrals: ["it"])])
        #expect(
            app.take() == ["restore [\"kCBRestoredPeripherals\"]", "state 5"] + (1...3).map { "value [\($0)] ok" }
        )
        #expect(first.take().isEmpty)
        let peripheral = try #require(app.peripherals.first)
        #expect((peripheral.state, peripheral.identifier, peripheral.name) == (.connected, identifier, "sensor"))
        #expect(peripheral.services?.map(\.uuid) == [service])
        let restored = try #require(peripheral.characteristic("2A37"))
        #expect(restored.isNotifying)
        #expect(restored.descriptors?.contains { $0.uuid == CBUUID(string: "2901") } == true)
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) > 20)
        app.central?.connect(peripheral)
        await bench.world.advance(by: .zero)
        #expect(app.take() == ["connected"])
        peripheral.setNotifyValue(false, for: restored)
        await bench.wait()
        #expect(!restored.isNotifying)
        #expect(bench.serverApp.take() == ["unsubscribed 2A37 0"])
        app.central?.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(app.take() == ["disconnected ok"])
    }

    @Test(
        "Pending connections and the scan continue, and their success launches the app",
        .behaviour("4.9.3"),
        arguments: 1...16
    )
    func pending(seed: UInt64) async throws {
        let bench = await bench(seed: seed)
        await bench.publish(.dynamic())
        let peripheral = try await find(bench)
        bench.world.separate(bench.phone, bench.sensor)
        first.central?.connect(peripheral)
        first.central?.scanForPeripherals(
            withServices: [CBUUID(string: "FFE0")],
            options: [
                CBCentralManagerScanOptionAllowDuplicatesKey: true,
                CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "FFE1")],
            ]
        )
        await bench.wait()
        bench.phone.endApps(.terminatedBySystem)
        launches.follow(bench.phone) { app in
            app.onRestore = { [unowned app] in
                #expect(app.peripherals.map(\.state) == [.connecting])
                #expect(app.central?.isScanning == true)
            }
        }
        await bench.wait(60)
        #expect(launches.launches.isEmpty)
        bench.world.rejoin(bench.phone, bench.sensor)
        await bench.wait(10)
        let app = try #require(launches.app)
        #expect(app.take().dropFirst() == ["state 5", "connected"])
        let state = try #require(app.restored)
        let services = state[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        #expect(services == [CBUUID(string: "FFE0")])
        let options = try #require(state[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any])
        #expect(options[CBCentralManagerScanOptionAllowDuplicatesKey] as? Bool == true)
        let solicited = options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
        #expect(solicited == [CBUUID(string: "FFE1")])
        #expect(app.central?.isScanning == true)
        app.central?.stopScan()
        #expect(app.central?.isScanning == false)
    }

    @Test(
        "A scan for services continues without the app, and the restored state has no empty keys",
        .behaviour("4.9.2")
    )
    func scanning() async throws {
        let bench = await bench()
        first.central?.scanForPeripherals(withServices: [service])
        await bench.wait()
        bench.phone.endApps(.crash)
        launches.follow(bench.phone)
        await bench.publish(.dynamic())
        await bench.wait(5)
        #expect(launches.app?.take() == ["restore [\"kCBRestoredScanServices\"]", "state 5", "discovered"])
    }

    @Test(
        "An app that lost a connection learns that the peripheral is no longer connecting",
        .behaviour("4.9.3"),
        arguments: 1...16
    )
    func lost(seed: UInt64) async throws {
        let bench = await bench(seed: seed), value = CBMutableCharacteristic.dynamic()
        try await subscribe(bench, to: value)
        bench.phone.endApps(.crash)
        launches.follow(bench.phone)
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(10)
        let app = try #require(launches.app)
        #expect(app.take() == ["restore [\"kCBRestoredPeripherals\"]", "state 5", "disconnected CBError 6"])
        #expect(app.peripherals.map(\.state) == [.disconnected])
    }

    @Test("The state is restored once per launch, over many launches", .behaviour("4.9.2"))
    func once() async throws {
        let bench = await bench(), value = CBMutableCharacteristic.dynamic()
        try await subscribe(bench, to: value)
        launches.follow(bench.phone)
        for octet in UInt8(1)...4 {
            bench.phone.endApps(octet % 2 == 0 ? .crash : .terminatedBySystem)
            _ = bench.server.updateValue(Data([octet]), for: value, onSubscribedCentrals: nil)
            await bench.wait()
            #expect(launches.launches.count == Int(octet))
            let app = try #require(launches.app)
            #expect(app.take() == ["restore [\"kCBRestoredPeripherals\"]", "state 5", "value [\(octet)] ok"])
            let again = RestoringApp()
            bench.lines.collect(bench.phone) { again.start(centrals: ["it"]) }
            await bench.wait()
            #expect(again.take() == ["state 5"])
        }
    }

    @Test("Commands during restoration are too early, and log a line", .behaviour("2.1.5"))
    func early() async throws {
        let bench = await bench(), value = CBMutableCharacteristic.dynamic()
        try await subscribe(bench, to: value)
        bench.phone.endApps(.crash)
        let app = RestoringApp(), lines = Lines()
        app.onRestore = { [unowned app] in
            app.central?.stopScan()
            app.central?.cancelPeripheralConnection(app.peripherals[0])
        }
        lines.collect(bench.phone) { app.start(centrals: ["it"]) }
        await bench.wait()
        #expect(app.take() == ["restore [\"kCBRestoredPeripherals\"]", "state 5"])
        let complaints = lines.take()
        #expect(complaints.count == 2)
        #expect(complaints.allSatisfy { $0.contains("can only accept this command while in the powered on state") })
        #expect(app.peripherals[0].state == .connected)
    }

    @Test("A restored peripheral that the app does not retain is disconnected", .behaviour("4.9.3"))
    func unkept() async throws {
        let bench = await bench(), value = CBMutableCharacteristic.dynamic()
        try await subscribe(bench, to: value)
        bench.phone.endApps(.crash)
        let app = RestoringApp()
        app.keeps = false
        bench.lines.collect(bench.phone) { app.start(centrals: ["it"]) }
        await bench.wait(5)
        #expect(app.take() == ["restore []", "state 5"])
        #expect(bench.serverApp.take() == ["unsubscribed 2A37 0"])
        #expect(bench.lines.take().contains { $0.contains("Did you forget to keep a reference to it?") })
    }

    @Test("Requests of an earlier launch are not answered in the next one", arguments: 1...16)
    func unanswered(seed: UInt64) async throws {
        let bench = await bench(seed: seed), value = CBMutableCharacteristic.dynamic()
        try await subscribe(bench, to: value)
        let peripheral = first.peripherals[0], old = try #require(peripheral.characteristic("2A37"))
        peripheral.readValue(for: old)
        peripheral.readRSSI()
        for octet in UInt8(0)..<8 { peripheral.writeValue(Data([octet]), for: old, type: .withResponse) }
        await bench.world.advance(by: .milliseconds(Int(seed) * 10))
        bench.phone.endApps(.crash)
        let app = RestoringApp()
        bench.lines.collect(bench.phone) { app.start(centrals: ["it"]) }
        await bench.wait()
        for request in bench.serverApp.reads {
            request.value = Data([9])
            bench.server.respond(to: request, withResult: .success)
        }
        await bench.wait()
        #expect(app.take() == ["restore [\"kCBRestoredPeripherals\"]", "state 5"])
        app.peripherals[0].readValue(for: try #require(app.peripherals[0].characteristic("2A37")))
        await bench.wait()
        let request = try #require(bench.serverApp.reads.last)
        request.value = Data([5])
        bench.server.respond(to: request, withResult: .success)
        await bench.wait()
        #expect(app.take() == ["value [5] ok"])
    }
}
