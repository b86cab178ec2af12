import BLESimulation
import CoreBluetooth
import Testing

@Suite("The main queue in a world")
struct MainQueueTests {
    @Test("Apps on the main queue work in a world that a main-actor test drives", .behaviour("1.2.1"))
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

    @Test("Without a queue, callbacks run on the main queue", .behaviour("1.2.1"))
    @MainActor func noQueue() async {
        /// An app that notes whether it is called on the main queue.
        final class Listener: NSObject, CBCentralManagerDelegate {
            static let key = DispatchSpecificKey<Bool>()
            var calls: [Bool?] = []
            func centralManagerDidUpdateState(_ central: CBCentralManager) {
                calls.append(DispatchQueue.getSpecific(key: Self.key))
            }
        }
        let listener = Listener(), world = World(seed: 3)
        DispatchQueue.main.setSpecific(key: Listener.key, value: true)
        let manager = world.inhabit { CBCentralManager(delegate: listener, queue: nil) }
        await world.advance(by: .seconds(1))
        #expect(listener.calls == [true])
        #expect(manager.state == .poweredOn)
    }
}
