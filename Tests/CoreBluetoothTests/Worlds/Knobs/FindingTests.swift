import BLESimulation
import CoreBluetooth
import Testing

@Suite("What an iPhone would refuse", .timeLimit(.minutes(5)))
struct FindingTests {
    let bench = KnobBench()

    @Test("An app that keeps to the rules has no findings")
    func none() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.world.findings.isEmpty)
        #expect(bench.world.openConnections.isEmpty)
    }

    @Test("A scan in the background without services is found, with its app")
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

    @Test("An app that works longer than ten seconds in the background is found", .behaviour("4.10.8"))
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
        "A background task gives it more time, and is found if it is not ended",
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

    @Test("The system ends an app that works too long, if it is told to", .behaviour("4.10.8"))
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

    @Test("Values that are too long, peripherals that nobody kept and connections without an end are found")
    func others() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        peripheral.writeValue(Data(count: 600), for: characteristic, type: .withoutResponse)
        await bench.wait()
        #expect(bench.world.findings.map(\.rule) == [.writeLength])
        #expect(bench.world.openConnections.map(\.sentence) == ["the connection to “Lamp” was never given up"])
    }

    @Test(
        "An advertisement with more than fits is found",
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
