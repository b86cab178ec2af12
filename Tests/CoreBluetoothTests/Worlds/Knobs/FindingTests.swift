import BLESimulation
import CoreBluetooth
import Testing

@Suite("Findings: what an iPhone would refuse", .timeLimit(.minutes(30)))
struct FindingTests {
    let bench = KnobBench()

    @Test("An app that follows the rules has no findings")
    func none() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.world.findings.isEmpty)
        #expect(bench.world.openConnections.isEmpty)
    }

    @Test("A background scan without services is a finding that names its app")
    func backgroundScan() async {
        await bench.wait()
        bench.phone.sendAppsToBackground(declaring: .central)
        await bench.wait()
        bench.central.scanForPeripherals(
            withServices: nil,
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        )
        await bench.wait()
        #expect(bench.world.findings.map(\.rule) == [.backgroundScan, .backgroundDuplicates])
        let finding = bench.world.findings.first
        #expect(finding?.machine == "phone" && finding?.app == "App")
    }

    @Test("Working longer than ten seconds in the background is a finding", .behaviour("4.10.8"))
    func overtime() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        bench.phone.sendAppsToBackground(declaring: .central)
        await bench.wait(9)
        peripheral.readRSSI()
        await bench.wait(9)
        #expect(bench.world.findings.isEmpty)
        await bench.wait(10)
        peripheral.readRSSI()
        await bench.wait()
        #expect(bench.world.findings.map(\.rule) == [.backgroundTime])
    }

    @Test(
        "A background task extends the time, and is a finding if it is not ended",
        .behaviour("4.10.8"),
        arguments: [30, 180]
    )
    func task(seconds: Int) async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        bench.phone.sendAppsToBackground(declaring: .central)
        let task = bench.phone.beginBackgroundTask(lasting: .seconds(seconds))
        await bench.wait(Double(seconds - 1))
        peripheral.readRSSI()
        await bench.wait(0.5)
        #expect(bench.world.findings.isEmpty)
        await bench.wait(1)
        #expect(bench.world.findings.map(\.rule) == [.backgroundTask])
        task.end()
        let other = bench.phone.beginBackgroundTask()
        other.end()
        await bench.wait(60)
        #expect(bench.world.findings.count == 1)
    }

    @Test("The system ends an app that works too long, if the test enables it", .behaviour("4.10.8"))
    func ended() async throws {
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        bench.phone.endsLateApps = true
        bench.phone.sendAppsToBackground(declaring: .central)
        await bench.wait(20)
        peripheral.readRSSI()
        await bench.wait()
        _ = bench.app.take()
        lamp.switchBluetoothOff()
        await bench.wait(20)
        #expect(bench.app.take().isEmpty)
    }

    @Test("Writes that are too long and connections that are never ended are findings")
    func others() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        peripheral.writeValue(Data(count: 600), for: characteristic, type: .withoutResponse)
        await bench.wait()
        #expect(bench.world.findings.map(\.rule) == [.writeLength])
        #expect(bench.world.openConnections.map(\.sentence) == ["the connection to “Lamp” was never cancelled"])
    }

    @Test("A connection ends with its manager, even if the disconnection was not delivered", arguments: [false, true])
    func releasedManager(isCancelled: Bool) async throws {
        bench.world.place(.lamp)
        let app = CentralApp()
        var central: CBCentralManager? = bench.phone.inhabit {
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "other"))
        }
        await bench.wait()
        central?.scanForPeripherals(withServices: [CBUUID(string: "FFE0")])
        await bench.wait()
        let peripheral = try #require(app.peripherals.first)
        central?.stopScan()
        central?.connect(peripheral)
        await bench.wait(5)
        #expect(bench.world.openConnections.count == 1)
        if isCancelled { central?.cancelPeripheralConnection(peripheral) }
        central = nil
        await bench.wait()
        #expect(bench.world.openConnections.isEmpty)
    }

    /// An app that is woken for much, and hears of its state alone.
    private final class Deaf: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    @Test("Missing methods that a background mode needs are findings only in the background", .behaviour("4.10.9"))
    func missingCentral() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect()), deaf = Deaf()
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        bench.central.delegate = deaf
        peripheral.delegate = deaf
        peripheral.readValue(for: characteristic)
        await bench.wait()
        #expect(bench.world.findings.isEmpty)
        bench.phone.sendAppsToBackground(declaring: .central)
        peripheral.readValue(for: characteristic)
        await bench.wait()
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.central.connect(peripheral)
        await bench.wait()
        let findings = bench.world.findings
        #expect(findings.map(\.rule) == [.missingMethod, .missingMethod, .missingMethod])
        let methods = ["didUpdateValueFor", "didDisconnectPeripheral", "didConnect"]
        #expect(zip(findings, methods).allSatisfy { $0.sentence.contains($1) }, "\(findings)")
    }

    /// An app that has the newer of the two methods for a loss.
    private final class Newer: NSObject, CBCentralManagerDelegate {
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            timestamp: CFAbsoluteTime,
            isReconnecting: Bool,
            error: (any Error)?
        ) {}
    }

    @Test("A delegate with the newer disconnection method lacks nothing", .behaviour("4.10.9"))
    func newerMethod() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect()), app = Newer()
        bench.central.delegate = app
        bench.phone.sendAppsToBackground(declaring: .central)
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(peripheral.state == .disconnected)
        #expect(bench.world.findings.isEmpty)
    }

    @Test("A peripheral app in the background needs methods for centrals' requests", .behaviour("4.10.9"))
    func missingServer() async throws {
        let deaf = Deaf(), machine = bench.world.machine("tag", at: World.Position(x: 1))
        let server = machine.inhabit { CBPeripheralManager(delegate: deaf, queue: DispatchQueue(label: "tag")) }
        await bench.wait()
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        let value = CBMutableCharacteristic(
            type: CBUUID(string: "FFE1"),
            properties: [.read, .write, .notify],
            value: nil,
            permissions: [.readable, .writeable]
        )
        service.characteristics = [value]
        server.add(service)
        server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFE0")]])
        let peripheral = try #require(await bench.connect())
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        machine.sendAppsToBackground(declaring: .peripheral)
        peripheral.readValue(for: characteristic)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        peripheral.setNotifyValue(true, for: characteristic)
        await bench.wait()
        let methods = ["didReceiveRead", "didReceiveWrite", "didSubscribeTo"]
        #expect(bench.world.findings.map(\.rule) == [.missingMethod, .missingMethod, .missingMethod])
        #expect(zip(bench.world.findings, methods).allSatisfy { $0.sentence.contains($1) })
    }

    @Test(
        "An advertisement with too much data is a finding",
        arguments: [
            ([CBAdvertisementDataLocalNameKey: String(repeating: "x", count: 29)], true),
            ([CBAdvertisementDataLocalNameKey: String(repeating: "x", count: 28)], false),
            ([CBAdvertisementDataManufacturerDataKey: "x"], true),
        ]
    )
    func advertisement(data: [String: String], isFound: Bool) async {
        let world = World(seed: 1)
        let app = PeripheralApp()
        let server = world.inhabit { CBPeripheralManager(delegate: app, queue: DispatchQueue(label: "server")) }
        await world.advance(by: .seconds(1))
        server.startAdvertising(data)
        await world.advance(by: .seconds(1))
        #expect(world.findings.map(\.rule) == (isFound ? [.advertisement] : []))
    }
}
