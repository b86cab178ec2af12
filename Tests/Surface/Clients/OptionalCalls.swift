import CoreBluetooth

/// Stands between a peripheral and another delegate, and calls what is optional as Apple's systems want it.
final class Forwarder: NSObject, CBPeripheralDelegate {
    weak var next: CBPeripheralDelegate?

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { next?.peripheralDidUpdateName?(peripheral) }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {
        next?.peripheral?(peripheral, didReadRSSI: RSSI, error: error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        next?.peripheral?(peripheral, didUpdateValueFor: characteristic, error: error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: Error?) {
        next?.peripheral?(peripheral, didUpdateValueFor: descriptor, error: error)
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        next?.peripheralIsReady?(toSendWriteWithoutResponse: peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) {
        next?.peripheral!(peripheral, didOpen: channel, error: error)
    }
}

/// A manager for tests, which tells its delegate what never happened.
final class PretendingCentral: CBCentralManager, @unchecked Sendable {
    func pretend(_ peripheral: CBPeripheral) {
        delegate?.centralManager?(self, didDiscover: peripheral, advertisementData: [:], rssi: -40)
        delegate?.centralManager!(self, didConnect: peripheral)
        if delegate?.centralManager?(self, didDisconnectPeripheral: peripheral, error: nil) == nil { stopScan() }
    }
}

func pretend(_ server: CBPeripheralManager, _ central: CBCentral, _ value: CBMutableCharacteristic) {
    server.delegate?.peripheralManagerDidStartAdvertising?(server, error: nil)
    server.delegate?.peripheralManager?(server, central: central, didSubscribeTo: value)
    server.delegate?.peripheralManager?(server, didPublishL2CAPChannel: 0x81, error: CBError(.unknown))
    server.delegate?.peripheralManagerIsReady?(toUpdateSubscribers: server)
}

/// Has properties that are called what the methods are called, as many apps do.
final class Controller: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    private var centralManager: CBCentralManager!
    private let peripheralManager: CBPeripheralManager
    var peripheral: CBPeripheral?

    override init() {
        peripheralManager = CBPeripheralManager()
        super.init()
        centralManager = CBCentralManager(delegate: self, queue: nil)
        self.peripheralManager.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central == centralManager, centralManager.state == .poweredOn else { return }
        centralManager?.scanForPeripherals(withServices: nil)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if peripheralManager.isAdvertising { peripheralManager.stopAdvertising() }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        self.peripheral = peripheral
        peripheral.delegate = self
    }

    func leave() {
        if let peripheral { centralManager.cancelPeripheralConnection(peripheral) }
        guard let peripheral = peripheral, peripheral.state != .disconnected else { return }
        self.peripheral?.delegate = nil
        self.peripheral = nil
    }
}
