import CoreBluetooth

/// A singleton whose manager is made, and works, on a private queue.
final class Thermometers: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    private(set) nonisolated(unsafe) static var shared = Thermometers()

    private let queue = DispatchQueue(label: "thermometers")
    private var central: CBCentralManager?
    private var device: CBPeripheral?
    private var readings: [UInt8] = []

    /// What was read so far.
    var all: [UInt8] { queue.sync { readings } }

    /// A program has one for ever; each test begins with a new one.
    static func renew() { shared = Thermometers() }

    func start() {
        queue.async { self.central = CBCentralManager(delegate: self, queue: self.queue) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [CBUUID(string: "181A")])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        device = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "181A")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        if let value = item.value?.first { readings.append(value) }
    }
}
