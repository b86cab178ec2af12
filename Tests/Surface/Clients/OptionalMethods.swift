import CoreBluetooth

/// No more than what is required of each delegate.
final class Silent: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}

/// The spelling without `any`, with and without the new disconnect callback.
final class Older: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {}
    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {}
}

/// The same, as code that also builds for old systems has it.
final class Newer: NSObject {
    var isReconnecting = false
}

extension Newer: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    @available(iOS 17.0, macOS 14.0, *)
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: Error?
    ) {
        self.isReconnecting = isReconnecting
    }
}

/// A class whose subclasses hear of more: the base declares what they override.
class Base: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
}

final class Derived: Base {
    var connected: [UUID] = []

    override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        connected.append(peripheral.identifier)
    }
}

/// The public delegate of a library.
public final class Published: NSObject, CBPeripheralDelegate {
    /// Hears of services.
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {}
    /// Hears of the signal, as of old.
    public func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: Error?) {}
    /// Hears of the signal.
    public func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {
        _ = (RSSI.intValue, RSSI == -55, Int(truncating: RSSI), "\(RSSI) dBm")
    }
}
