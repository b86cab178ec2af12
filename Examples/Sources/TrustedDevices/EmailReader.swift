import CoreBluetooth

/// A central that reads what is for paired centrals alone, and subscribes to it.
///
/// It knows nothing of pairing: what it asks for is answered once the devices are paired, or refused.
final class EmailReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var emails: [String] = []
    private(set) var errors: [any Error] = []
    private(set) var isSubscribed = false

    private var manager: CBCentralManager!
    private var keeper: CBPeripheral?
    private let output: (String) -> Void

    init(output: @escaping (String) -> Void = { _ in }) {
        self.output = output
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }

    var isConnected: Bool { keeper?.state == .connected }

    func connect() {
        if let keeper { manager.connect(keeper) }
    }

    func disconnect() {
        if let keeper { manager.cancelPeripheralConnection(keeper) }
    }

    /// Asks for the email, and to hear when it changes.
    func ask() {
        guard let email = keeper?.services?.first?.characteristics?.first else { return }
        keeper?.readValue(for: email)
        keeper?.setNotifyValue(true, for: email)
    }

    private func note(_ error: any Error) {
        errors.append(error)
        output(error.localizedDescription)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [EmailKeeper.serviceUUID])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        keeper = peripheral
        connect()
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices([EmailKeeper.serviceUUID])
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if let error { note(error) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        isSubscribed = false
        if let error { note(error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else { return }
        peripheral.discoverCharacteristics([EmailKeeper.emailUUID], for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        ask()
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return note(error) }
        let email = String(decoding: characteristic.value ?? Data(), as: UTF8.self)
        emails.append(email)
        output(email)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return note(error) }
        isSubscribed = characteristic.isNotifying
    }
}
