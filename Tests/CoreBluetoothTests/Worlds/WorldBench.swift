import BLESimulation
import CoreBluetooth

/// Two machines, an app in each role, and a test that says what they do, step by step.
final class WorldBench {
    let world: World
    let phone: Machine
    let sensor: Machine
    let app = CentralApp()
    let central: CBCentralManager
    let serverApp = PeripheralApp()
    let server: CBPeripheralManager

    init(seed: UInt64 = 1, loss: Double = 0, queue: DispatchQueue? = nil) {
        let world = World(seed: seed, conditions: .init(loss: loss))
        phone = world.machine("phone")
        sensor = world.machine("sensor", at: .init(x: 2))
        central = phone.inhabit { [app] in
            CBCentralManager(delegate: app, queue: queue ?? DispatchQueue(label: "phone"))
        }
        server = sensor.inhabit { [serverApp] in
            CBPeripheralManager(delegate: serverApp, queue: queue ?? DispatchQueue(label: "sensor"))
        }
        self.world = world
    }

    /// Lets some seconds pass.
    func wait(_ seconds: Int = 2) async { await world.advance(by: .seconds(seconds)) }

    /// Connects, offers a channel and opens it: what the central has of it, and what the peripheral.
    func openChannel() async -> (CBL2CAPChannel, CBL2CAPChannel)? {
        guard let peripheral = await connect() else { return nil }
        server.publishL2CAPChannel(withEncryption: false)
        await wait()
        peripheral.openL2CAPChannel(serverApp.psm)
        await wait()
        guard let near = app.channels.first, let far = serverApp.channels.first else { return nil }
        return (near, far)
    }

    /// Publishes a service, advertises it, and finds and connects it with all that it has.
    func connect(_ characteristics: CBMutableCharacteristic...) async -> CBPeripheral? {
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = characteristics
        await wait()
        server.add(service)
        server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service.uuid]])
        central.scanForPeripherals(withServices: [service.uuid])
        await wait()
        central.stopScan()
        guard let peripheral = app.peripherals.first else { return nil }
        central.connect(peripheral)
        await wait(5)
        peripheral.discoverServices([service.uuid])
        await wait()
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        await wait()
        _ = (app.take(), serverApp.take())
        return peripheral
    }
}

extension CBPeripheral {
    /// The characteristic of the first service with this type.
    func characteristic(_ type: String) -> CBCharacteristic? {
        services?.first?.characteristics?.first { $0.uuid == CBUUID(string: type) }
    }
}
