import CoreBluetooth

/// The app that publishes a channel, and advertises its PSM.
@MainActor
final class TransferStore: NSObject {
    static let service = CBUUID(string: "FD10")
    private let end: TransferEnd
    private let isEncrypted: Bool
    private var manager: CBPeripheralManager!

    init(_ end: TransferEnd, isEncrypted: Bool = false) {
        (self.end, self.isEncrypted) = (end, isEncrypted)
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }
}

extension TransferStore: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if peripheral.state == .poweredOn { peripheral.publishL2CAPChannel(withEncryption: isEncrypted) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [Self.service], CBAdvertisementDataLocalNameKey: "\(PSM)",
        ])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { end.use(channel) }
    }
}

/// The app that opens the channel.
@MainActor
final class TransferVisitor: NSObject {
    private let end: TransferEnd
    private var manager: CBCentralManager!
    private var store: (peripheral: CBPeripheral, psm: CBL2CAPPSM)?

    init(_ end: TransferEnd) {
        self.end = end
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }
}

extension TransferVisitor: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [TransferStore.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        guard store == nil, let psm = name.flatMap(CBL2CAPPSM.init) else { return }
        central.stopScan()
        store = (peripheral, psm)
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        if let store { peripheral.openL2CAPChannel(store.psm) }
    }
}

extension TransferVisitor: @MainActor CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { end.use(channel) }
    }
}
