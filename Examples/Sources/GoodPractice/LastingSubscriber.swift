import CoreBluetooth

/// Subscribes to a value of one peripheral, and again after every loss: of the connection, of the radio, or of the
/// daemon that shares it.
///
/// While the radio or the daemon restarts the state is `.resetting`. Every `CBPeripheral` is invalid from then on, with
/// its services and characteristics, and no delegate method is called for it. What lasts is the identifier: with
/// `.poweredOn`, the peripheral is retrieved by it, connected and discovered again.
final class LastingSubscriber: NSObject {
    private(set) var states: [CBManagerState] = []
    private(set) var values: [Data] = []
    /// How many times a subscription has begun.
    private(set) var subscriptionCount = 0

    private let service: CBUUID
    private let characteristic: CBUUID
    private var manager: CBCentralManager!
    private var identifier: UUID?
    private var peripheral: CBPeripheral?

    init(to characteristic: CBUUID, of service: CBUUID) {
        self.service = service
        self.characteristic = characteristic
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }

    private func connect(_ peripheral: CBPeripheral) {
        identifier = peripheral.identifier
        self.peripheral = peripheral
        peripheral.delegate = self
        manager.connect(peripheral)
    }
}

extension LastingSubscriber: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        states.append(central.state)
        guard central.state == .poweredOn else {
            peripheral = nil
            return
        }
        if let identifier, let known = central.retrievePeripherals(withIdentifiers: [identifier]).first {
            connect(known)
        } else {
            central.scanForPeripherals(withServices: [service])
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        connect(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        connect(peripheral)
    }
}

extension LastingSubscriber: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([characteristic], for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if error == nil, characteristic.isNotifying { subscriptionCount += 1 }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let value = characteristic.value { values.append(value) }
    }
}
