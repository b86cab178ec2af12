import CoreBluetooth

/// A central that finds a peripheral, explores all that it has, reads it, subscribes to it and writes to it.
final class Explorer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    /// What to write to every characteristic that can be written.
    var dataToWrite: Data?
    /// What happened, a line each.
    private(set) var log: [String] = []
    private(set) var values: [CBUUID: Data] = [:]
    private(set) var notifications: [CBUUID: [Data]] = [:]

    private var myCentralManager: CBCentralManager!
    private(set) var discoveredPeripheral: CBPeripheral?
    private let serviceUUIDs: [CBUUID]?
    private let output: (String) -> Void

    /// Starts up a central manager that looks for peripherals with these services; with any if `nil`.
    init(services: [CBUUID]?, options: [String: Any]? = nil, output: @escaping (String) -> Void = { _ in }) {
        serviceUUIDs = services
        self.output = output
        super.init()
        myCentralManager = CBCentralManager(delegate: self, queue: nil, options: options)
    }

    private func note(_ line: String) {
        log.append(line)
        output(line)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return note("The radio cannot be used: \(central.state.rawValue)") }
        myCentralManager.scanForPeripherals(withServices: serviceUUIDs, options: nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard discoveredPeripheral == nil else { return }
        note("Discovered \(peripheral.name ?? "?")")
        // Without a strong reference the peripheral goes away, and with it the connection to it.
        discoveredPeripheral = peripheral
        myCentralManager.stopScan()
        myCentralManager.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        note("Peripheral connected")
        peripheral.delegate = self
        peripheral.discoverServices(serviceUUIDs)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("Peripheral disconnected\(error.map { ": \($0.localizedDescription)" } ?? "")")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            note("Discovering characteristics for service \(service.uuid.uuidString)")
            peripheral.discoverCharacteristics(nil, for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for interestingCharacteristic in service.characteristics ?? [] {
            note("Discovered characteristic \(interestingCharacteristic.uuid.uuidString)")
            let properties = interestingCharacteristic.properties
            if properties.contains(.read) { peripheral.readValue(for: interestingCharacteristic) }
            if properties.contains(.notify) { peripheral.setNotifyValue(true, for: interestingCharacteristic) }
            if properties.contains(.write), let dataToWrite {
                note("Writing value for characteristic \(interestingCharacteristic.uuid.uuidString)")
                peripheral.writeValue(dataToWrite, for: interestingCharacteristic, type: .withResponse)
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return note("Error reading characteristic value: \(error.localizedDescription)") }
        guard let data = characteristic.value else { return }
        values[characteristic.uuid] = data
        notifications[characteristic.uuid, default: []].append(data)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { note("Error changing notification state: \(error.localizedDescription)") }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return note("Error writing characteristic value: \(error.localizedDescription)") }
        note("Wrote characteristic \(characteristic.uuid.uuidString)")
    }

    /// Disconnects: one should as soon as all data that were wanted are here.
    func finish() {
        guard let discoveredPeripheral else { return }
        myCentralManager.cancelPeripheralConnection(discoveredPeripheral)
    }

    /// Connects again to a peripheral whose identifier was saved, without scanning.
    func reconnect(to savedIdentifiers: [UUID]) {
        let knownPeripherals = myCentralManager.retrievePeripherals(withIdentifiers: savedIdentifiers)
        guard let first = knownPeripherals.first else { return note("No known peripheral") }
        discoveredPeripheral = first
        myCentralManager.connect(first, options: nil)
    }

    /// Peripherals with these services that this device is connected to, for whichever app.
    func connectedPeripherals(with services: [CBUUID]) -> [CBPeripheral] {
        myCentralManager.retrieveConnectedPeripherals(withServices: services)
    }
}
