import BLESimulation
import CoreBluetoothExtras

/// A phone and a sensor on a virtual radio; what the phone's app does is a task.
final class ExtrasBench {
    static var service: CBUUID { CBUUID(string: "FFF0") }
    static let fixedValue = Data((0..<300).map { UInt8(truncatingIfNeeded: $0) })

    let world: World
    let central: CBCentralManager
    let server: CBPeripheralManager
    let sensor: SensorApp

    init(seed: UInt64 = 1, loss: Double = 0) {
        let world = World(seed: seed, conditions: .init(loss: loss))
        let sensor = SensorApp()
        central = world.machine("phone").inhabit {
            CBCentralManager(delegate: nil, queue: DispatchQueue(label: "phone"))
        }
        server = world.machine("sensor", at: .init(x: 2)).inhabit {
            CBPeripheralManager(delegate: sensor, queue: DispatchQueue(label: "sensor"))
        }
        self.sensor = sensor
        self.world = world
    }

    /// Lets time pass while `work` goes on.
    func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        let clock = Task { [world] in
            while !Task.isCancelled {
                await world.advance(by: .milliseconds(10))
                await Task.yield()
            }
        }
        defer { clock.cancel() }
        return try await work()
    }

    /// Publishes the service of the sensor and advertises it.
    func publish() async {
        await world.advance(by: .seconds(1))
        server.add(sensor.makeService())
        server.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [Self.service], CBAdvertisementDataLocalNameKey: "Nora",
        ])
        await world.advance(by: .seconds(1))
    }

    /// The first discovery of a scan.
    func discover(_ filter: ScanFilter = ScanFilter(services: [service])) async throws -> Discovery {
        try await central.poweredOn()
        for await discovery in central.discoveries(filter) { return discovery }
        throw CBError(.unknown)
    }

    /// The sensor, connected, and its characteristics by type.
    func connect() async throws -> (CBPeripheral, [CBUUID: CBCharacteristic]) {
        let peripheral = try await discover().peripheral
        try await central.connect(peripheral, timeout: .seconds(20))
        var found: [CBUUID: CBCharacteristic] = [:]
        for service in try await peripheral.findServices([Self.service]) {
            for characteristic in try await peripheral.findCharacteristics(of: service) {
                found[characteristic.uuid] = characteristic
            }
        }
        return (peripheral, found)
    }
}

/// The app of the sensor: it stores what is written, and sends a count to those who subscribe.
final class SensorApp: NSObject, CBPeripheralManagerDelegate {
    let count = CBMutableCharacteristic(type: CBUUID(string: "FFF2"), properties: .notify, value: nil, permissions: [])
    private(set) var written: [Data] = []
    private(set) var unsubscribed = 0
    private var next: UInt8 = 0

    func makeService() -> CBMutableService {
        let service = CBMutableService(type: ExtrasBench.service, primary: true)
        let fixed = CBMutableCharacteristic(
            type: CBUUID(string: "FFF1"),
            properties: .read,
            value: ExtrasBench.fixedValue,
            permissions: .readable
        )
        fixed.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "fixed")]
        let sink = CBMutableCharacteristic(
            type: CBUUID(string: "FFF3"),
            properties: [.write, .writeWithoutResponse],
            value: nil,
            permissions: .writeable
        )
        service.characteristics = [fixed, count, sink]
        return service
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        written += requests.compactMap(\.value)
        peripheral.respond(to: requests[0], withResult: written.last == Data([0xFF]) ? .writeNotPermitted : .success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        send(by: peripheral)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        unsubscribed += 1
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { send(by: peripheral) }

    /// Sends numbers as long as there is room, up to 200.
    private func send(by manager: CBPeripheralManager) {
        while next < 200, manager.updateValue(Data([next]), for: count, onSubscribedCentrals: nil) { next += 1 }
    }
}
