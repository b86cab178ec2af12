import BLESimulation
import CoreBluetooth
import Testing

@Suite("Apps' view of a machine without further connections")
struct LinkLimitBehaviourTests {
    private static var service: CBUUID { CBUUID(string: "FFF0") }

    /// An app on a machine with two connections, and three devices that it has found.
    private func makeScene(seed: UInt64) async -> (World, CentralApp, CBCentralManager) {
        let world = World(seed: seed, conditions: .init(loss: 0.1)), app = CentralApp()
        for number in 1...3 {
            world.place(
                SimulatedPeripheral(name: "Sensor \(number)", services: [.init("FFF0", [.init("FFF1", [.read])])])
            )
        }
        let phone = world.machine("phone", at: .init(x: 2), maximumConnections: 2)
        let central = phone.inhabit { CBCentralManager(delegate: app, queue: .init(label: "app")) }
        await world.advance(by: .seconds(1))
        central.scanForPeripherals(withServices: [Self.service])
        #expect(await world.advance(atMost: .seconds(60)) { app.peripherals.count == 3 })
        central.stopScan()
        return (world, app, central)
    }

    @Test(
        "A connection for which none is left fails once; requested again, it waits for the end of another",
        .behaviour("1.2.30"),
        arguments: UInt64(0)..<16
    )
    func failsOnce(seed: UInt64) async throws {
        let (world, app, central) = await makeScene(seed: seed)
        let peripherals = app.peripherals
        try #require(peripherals.count == 3)
        for peripheral in peripherals.prefix(2) { central.connect(peripheral) }
        #expect(
            await world.advance(atMost: .seconds(60)) { peripherals.prefix(2).allSatisfy { $0.state == .connected } }
        )
        _ = app.take()
        central.connect(peripherals[2])
        await world.advance(by: .seconds(10))
        #expect(app.take() == ["failed CBError 11"])
        #expect(peripherals[2].state == .disconnected)
        central.connect(peripherals[2])
        await world.advance(by: .seconds(60))
        #expect(app.take().isEmpty)
        #expect(peripherals[2].state == .connecting)
        central.cancelPeripheralConnection(peripherals[0])
        #expect(await world.advance(atMost: .seconds(60)) { peripherals[2].state == .connected })
        #expect(app.take() == ["disconnected ok 0", "connected 2"])
    }

    @Test(
        "A connection that is to reconnect by itself waits for the end of another",
        .behaviour("1.2.30"),
        arguments: UInt64(0)..<16
    )
    func reconnecting(seed: UInt64) async throws {
        let (world, app, central) = await makeScene(seed: seed)
        let peripherals = app.peripherals
        try #require(peripherals.count == 3)
        for peripheral in peripherals.prefix(2) { central.connect(peripheral) }
        #expect(
            await world.advance(atMost: .seconds(60)) { peripherals.prefix(2).allSatisfy { $0.state == .connected } }
        )
        _ = app.take()
        central.connect(peripherals[2], options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await world.advance(by: .seconds(60))
        #expect(app.take().filter { !$0.hasPrefix("name") }.isEmpty)
        central.cancelPeripheralConnection(peripherals[1])
        #expect(await world.advance(atMost: .seconds(60)) { peripherals[2].state == .connected })
        #expect(app.take() == ["disconnected ok 0", "connected 2"])
    }
}
