import BLESimulation
import CoreBluetooth
import Testing

@Suite("The main queue in a world")
struct MainQueueTests {
    @Test("Apps on the main queue work in a world that a main-actor test drives")
    @MainActor func mainQueue() async throws {
        let world = World(seed: 2), app = CentralApp(), serverApp = PeripheralApp()
        let server = world.machine("sensor").inhabit { CBPeripheralManager(delegate: serverApp, queue: nil) }
        let central = world.inhabit { CBCentralManager(delegate: app, queue: nil) }
        await world.advance(by: .seconds(1))
        server.startAdvertising([CBAdvertisementDataLocalNameKey: "Main"])
        central.scanForPeripherals(withServices: nil)
        await world.advance(by: .seconds(2))
        central.connect(try #require(app.peripherals.first))
        await world.advance(by: .seconds(5))
        #expect(app.take().contains("connected 2"))
        #expect(serverApp.take() == ["state 5", "advertising ok true"])
    }
}
