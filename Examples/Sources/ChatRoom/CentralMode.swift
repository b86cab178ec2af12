import CoreBluetooth

/// A peripheral that was found, and when and how strongly it was last heard.
struct DiscoveredPeripheral {
    let peripheral: CBPeripheral
    let lastRSSI: Int
    let lastSeenDateTime: Date
}

/// The central's screen: a switch for scanning, a list of who is there, and what each of them offers.
final class CentralMode: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var allDiscovered: [UUID: DiscoveredPeripheral] = [:]
    /// What the last inspection found, ready to be shown.
    private(set) var result: String?
    private(set) var log: [String] = []
    /// A characteristic that one can talk through was found: the conversation begins.
    var onTalk: ((CBPeripheral, CBCharacteristic) -> Void)?

    private var centralManager: CBCentralManager!
    private var detailInfoString = ""
    private var restServices: [CBService] = []
    private var target: CBPeripheral?

    override init() {
        super.init()
        centralManager = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state != .poweredOn else { return }
        log.append("BLE is not available. (error: \(central.state.rawValue))")
    }

    /// The scan switch.
    func scanSwitchChanged(isOn: Bool) {
        if isOn { startToScan() } else { stopScanning() }
    }

    private func startToScan() {
        let services: [CBUUID] = []
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        centralManager.scanForPeripherals(withServices: services, options: options)
    }

    private func stopScanning() { centralManager.stopScan() }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if allDiscovered[peripheral.identifier] == nil {
            log.append("Found: \(peripheral.name ?? "?")")
        }
        allDiscovered[peripheral.identifier] = DiscoveredPeripheral(
            peripheral: peripheral,
            lastRSSI: RSSI.intValue,
            lastSeenDateTime: Date()
        )
    }

    /// A row of the list was tapped.
    func connect(to identifier: UUID) {
        guard let found = allDiscovered[identifier] else { return }
        target = found.peripheral
        detailInfoString = ""
        centralManager.connect(found.peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        log.append("Peripheral connected: \(peripheral.name ?? "?")")
        stopScanning()
        peripheral.delegate = self
        restServices = []
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        log.append("Failed to connect: \(error.map { $0.localizedDescription } ?? "")")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        log.append("Disconnected: \(peripheral.name ?? "?")")
        startToScan()
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard error == nil else { return giveUp(peripheral, "didDiscoverServices", error) }
        restServices = peripheral.services ?? []
        discoverNext(of: peripheral)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        guard error == nil else { return giveUp(peripheral, "didDiscoverCharacteristics", error) }
        let characteristics = service.characteristics ?? []
        detailInfoString += "*** Peripheral: \(peripheral.name ?? "?") (\(peripheral.services?.count ?? 0) services)\n"
        detailInfoString += "** Service: \(service.uuid.uuidString) (\(characteristics.count) characteristics)\n"
        for characteristic in characteristics {
            detailInfoString += "* Characteristic: \(characteristic.uuid.uuidString)\n"
            if characteristic.uuid == CBUUID(string: kCharacteristicUUID) { onTalk?(peripheral, characteristic) }
        }
        discoverNext(of: peripheral)
    }

    private func discoverNext(of peripheral: CBPeripheral) {
        guard let next = restServices.first else {
            result = detailInfoString
            // Whoever only wanted to look is done; a conversation keeps the connection.
            if onTalk == nil { centralManager.cancelPeripheralConnection(peripheral) }
            return
        }
        restServices.removeFirst()
        peripheral.discoverCharacteristics(nil, for: next)
    }

    private func giveUp(_ peripheral: CBPeripheral, _ what: String, _ error: (any Error)?) {
        log.append("\(what) error: \(error.map { $0.localizedDescription } ?? "")")
        centralManager.cancelPeripheralConnection(peripheral)
        startToScan()
    }

    func leave() {
        guard let target else { return }
        centralManager.cancelPeripheralConnection(target)
    }
}
