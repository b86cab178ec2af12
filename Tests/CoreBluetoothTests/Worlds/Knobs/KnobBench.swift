import BLESimulation
import CoreBluetooth

/// An app on a phone, and devices without apps around it.
final class KnobBench {
    let world: World
    let phone: Machine
    let app = CentralApp()
    let central: CBCentralManager
    let lines = Lines()

    init(seed: UInt64 = 1, mtu: Int? = nil, connectionInterval: Duration? = nil, peripheralLatency: Int = 0) {
        let world = World(seed: seed)
        phone = world.machine(
            "phone",
            mtu: mtu,
            connectionInterval: connectionInterval,
            peripheralLatency: peripheralLatency
        )
        central = lines.collect(phone) { [app] in
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "phone"))
        }
        self.world = world
    }

    /// Lets some seconds pass.
    func wait(_ seconds: Double = 2) async { await world.advance(by: .seconds(seconds)) }

    /// Finds whoever advertises the service.
    func find(_ service: String = "FFE0") async -> CBPeripheral? {
        await wait()
        central.scanForPeripherals(withServices: [CBUUID(string: service)])
        await wait()
        central.stopScan()
        return app.peripherals.first
    }

    /// Finds a device, connects to it and discovers all that it has.
    func connect(_ options: [String: Any]? = nil) async -> CBPeripheral? {
        guard let peripheral = await find() else { return nil }
        central.connect(peripheral, options: options)
        await wait(5)
        await explore(peripheral)
        _ = app.take()
        return peripheral
    }

    /// Discovers all that a peripheral has.
    func explore(_ peripheral: CBPeripheral) async {
        peripheral.discoverServices(nil)
        await wait()
        for service in peripheral.services ?? [] {
            peripheral.discoverIncludedServices(nil, for: service)
            peripheral.discoverCharacteristics(nil, for: service)
        }
        await wait()
        for characteristic in peripheral.services?.flatMap({ $0.characteristics ?? [] }) ?? [] {
            peripheral.discoverDescriptors(for: characteristic)
        }
        await wait()
    }
}

extension SimulatedPeripheral {
    /// Takes commands, says its state, and notifies it.
    static let lamp = SimulatedPeripheral(
        name: "Lamp",
        at: World.Position(x: 1),
        services: [
            .init(
                "FFE0",
                [
                    .init("FFE1", [.read, .write, .writeWithoutResponse], value: [7]),
                    .init("FFE2", [.notify]),
                ]
            )
        ]
    )
}
