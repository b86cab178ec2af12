import BLEHost
import BLERuntime
import BLEWire
import CoreBluetooth

@testable import BLESimulation

/// Two machines, an app in each role, and a test that says what they do, step by step.
final class WorldBench {
    let world: World
    let phone: Machine
    let sensor: Machine
    let app = CentralApp()
    let central: CBCentralManager
    let serverApp = PeripheralApp()
    let server: CBPeripheralManager
    /// What the managers complain of.
    let lines = Lines()

    /// Begins a world.
    ///
    /// - Parameters:
    ///   - seed: What makes one run different from another.
    ///   - loss: The share of packets that are lost on the air.
    ///   - queue: The queue of both apps; `nil` for one each.
    ///   - phoneMTU: The largest ATT packet that the phone takes, in octets; `nil` for as large as can be.
    init(seed: UInt64 = 1, loss: Double = 0, queue: DispatchQueue? = nil, phoneMTU: Int? = nil) {
        let world = World(seed: seed, conditions: .init(loss: loss))
        phone = world.machine("phone")
        if let phoneMTU { phone.replaceHost(preferredMTU: phoneMTU) }
        sensor = world.machine("sensor", at: .init(x: 2))
        central = lines.collect(phone) { [app] in
            CBCentralManager(delegate: app, queue: queue ?? DispatchQueue(label: "phone"))
        }
        server = lines.collect(sensor) { [serverApp] in
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

    /// Another app in the central role, on the phone or another machine.
    func anotherCentral(on machine: Machine? = nil) -> (manager: CBCentralManager, app: CentralApp) {
        let app = CentralApp()
        let manager = lines.collect(machine ?? phone) {
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "another central"))
        }
        return (manager, app)
    }

    /// Another app in the peripheral role, on the sensor or another machine.
    func anotherServer(on machine: Machine? = nil) -> (manager: CBPeripheralManager, app: PeripheralApp) {
        let app = PeripheralApp()
        let manager = lines.collect(machine ?? sensor) {
            CBPeripheralManager(delegate: app, queue: DispatchQueue(label: "another server"))
        }
        return (manager, app)
    }

    /// Publishes a service and advertises it.
    func publish(_ characteristics: CBMutableCharacteristic...) async {
        await publish(characteristics)
    }

    private func publish(_ characteristics: [CBMutableCharacteristic]) async {
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = characteristics
        await wait()
        server.add(service)
        server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service.uuid]])
    }

    /// Finds the peripheral that advertises the service.
    func find() async -> CBPeripheral? {
        central.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await wait()
        central.stopScan()
        return app.peripherals.first
    }

    /// Publishes a service, advertises it, and finds and connects it with all that it has.
    func connect(
        _ characteristics: CBMutableCharacteristic...,
        options: [String: Any]? = nil
    ) async -> CBPeripheral? {
        await publish(characteristics)
        guard let peripheral = await find() else { return nil }
        central.connect(peripheral, options: options)
        await explore(peripheral, for: [CBUUID(string: "FFF0")])
        _ = (app.take(), serverApp.take())
        return peripheral
    }

    /// Waits for a connection, and discovers the services there, all or some, with their characteristics.
    func explore(_ peripheral: CBPeripheral, for services: [CBUUID]? = nil) async {
        await wait(5)
        peripheral.discoverServices(services)
        await wait()
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        await wait()
    }
}

extension CBPeripheral {
    /// The characteristic of the first service with this type.
    func characteristic(_ type: String) -> CBCharacteristic? {
        services?.first?.characteristics?.first { $0.uuid == CBUUID(string: type) }
    }
}

extension Machine {
    /// Gives a machine that has done nothing yet a host that takes ATT packets of so many octets.
    func replaceHost(preferredMTU: Int) {
        world.core.withLock { core in
            let configuration = Host.Configuration(
                name: name,
                identifierSecret: 7,
                preferredMTU: preferredMTU
            )
            core.stations[index].host = Host(configuration: configuration, random: SeededGenerator(seed: 7))
            core.stations[index].host.transportOpened(at: core.now)
        }
    }
}
