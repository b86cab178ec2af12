import CoreBluetooth

/// Keeps the latest score of a game, over any number of lost connections.
final class ScoreReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    static let serviceUUID = CBUUID(string: "5C0E0001-8C1D-4B57-9B0F-1E2D3C4B5A69")
    static let scoreUUID = CBUUID(string: "5C0E0002-8C1D-4B57-9B0F-1E2D3C4B5A69")

    /// What is done when a connection is there again.
    enum Reconnection {
        /// A game forgets its subscribers with the connection, and does not say what they have missed: the reader
        /// subscribes anew, and reads.
        case careful
        /// The score stays as it was, which is easily overlooked; a test shows how such a defect is found.
        case forgetful
    }

    private(set) var score: UInt8 = 0
    private let reconnection: Reconnection
    private let show: (UInt8) -> Void
    private var central: CBCentralManager!
    private var game: CBPeripheral?
    private var hasSubscribed = false

    init(_ reconnection: Reconnection = .careful, show: @escaping (UInt8) -> Void = { _ in }) {
        self.reconnection = reconnection
        self.show = show
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        if let game { central.connect(game) } else { central.scanForPeripherals(withServices: [Self.serviceUUID]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        game = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        if reconnection == .careful || !hasSubscribed { peripheral.discoverServices([Self.serviceUUID]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([Self.scoreUUID], for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for score in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: score) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard characteristic.isNotifying else { return }
        hasSubscribed = true
        peripheral.readValue(for: characteristic)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard let value = characteristic.value?.first, value != score else { return }
        score = value
        show(value)
    }
}
