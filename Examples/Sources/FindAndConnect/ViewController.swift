import CoreBluetooth

/// Finds a peripheral by the beginning of its name and by its strength, and gets to know it down to the descriptors.
final class ViewController: NSObject {
    private(set) var log: [String] = []
    private(set) var values: [CBUUID: Data] = [:]
    private(set) var descriptions: [CBUUID: String] = [:]
    private(set) var written: [CBUUID] = []

    /// The peripheral that was found; holding it is what keeps it alive.
    private(set) var peripheral: CBPeripheral?
    private let prefix: String
    private let output: (String) -> Void

    /// The manager, made when it is first needed; its delegate is called on the main queue.
    private(set) lazy var cManager = CBCentralManager(delegate: self, queue: .main, options: nil)

    init(prefix: String, output: @escaping (String) -> Void = { _ in }) {
        self.prefix = prefix
        self.output = output
    }

    /// What a view controller does when its view is there.
    func viewDidLoad() { _ = cManager }

    private func note(_ line: String) {
        log.append(line)
        output(line)
    }

    /// Writes, if the characteristic takes writes: properties are a set, so one asks whether it contains.
    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteData data: Data,
        forCharacteristic characteristic: CBCharacteristic
    ) {
        guard characteristic.properties.contains(.write) else { return }
        peripheral.writeValue(data, for: characteristic, type: .withResponse)
    }

    func peripheral(_ peripheral: CBPeripheral, regNotifyWithCharacteristic characteristic: CBCharacteristic) {
        peripheral.setNotifyValue(true, for: characteristic)
    }

    func peripheral(_ peripheral: CBPeripheral, cancelRegNotifyWithCharacteristic characteristic: CBCharacteristic) {
        peripheral.setNotifyValue(false, for: characteristic)
    }

    func dismissConnected(with peripheral: CBPeripheral) {
        cManager.stopScan()
        cManager.cancelPeripheralConnection(peripheral)
    }
}

extension ViewController: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .unknown: note("The state is unknown")
        case .resetting: note("The radio is resetting")
        case .unsupported: note("There is no radio")
        case .unauthorized: note("The app is not allowed to use Bluetooth")
        case .poweredOff: note("The radio is off")
        case .poweredOn:
            note("The radio is on")
            cManager.scanForPeripherals(withServices: nil, options: nil)
        @unknown default: break
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil, peripheral.name?.hasPrefix(prefix) == true, abs(RSSI.intValue) > 35 else {
            return
        }
        self.peripheral = peripheral
        cManager.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        note("\(peripheral.name ?? "?") connected")
        self.peripheral?.delegate = self
        self.peripheral?.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("\(peripheral.name ?? "?") failed to connect")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("\(peripheral.name ?? "?") disconnected")
    }
}

extension ViewController: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return note("error: \(error.localizedDescription)") }
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] {
            peripheral.discoverDescriptors(for: characteristic)
            peripheral.readValue(for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor descriptor: CBDescriptor,
        error: (any Error)?
    ) {
        guard let characteristic = descriptor.characteristic, let text = descriptor.value as? String else { return }
        descriptions[characteristic.uuid] = text
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        values[characteristic.uuid] = characteristic.value
        for descriptor in characteristic.descriptors ?? [] { peripheral.readValue(for: descriptor) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if error == nil { written.append(characteristic.uuid) }
    }
}
