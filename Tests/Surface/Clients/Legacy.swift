import CoreBluetooth
import CoreFoundation

/// What is deprecated and compiles nonetheless.
@available(*, deprecated)
final class Legacy: NSObject, CBPeripheralDelegate {
    func states(_ central: CBCentralManagerState, _ server: CBPeripheralManagerState) -> Bool {
        central == .poweredOn && server == .unsupported && CBCentralManagerState(rawValue: 5) == .poweredOn
    }

    func authorization(_ manager: CBManager) -> Bool {
        manager.authorization == .allowedAlways || CBPeripheralManager.authorizationStatus() == .authorized
    }

    func identifiers(_ identifier: CFUUID) -> [CBUUID] {
        [CBUUID(cfuuid: identifier), CBUUID(CFUUID: identifier), CBUUID(NSUUID: UUID())]
    }

    func strength(of peripheral: CBPeripheral, _ characteristic: CBCharacteristic) -> NSNumber? {
        characteristic.isBroadcasted ? nil : peripheral.rssi
    }

    func misspelt(_ error: CBError) -> Bool { error.code == CBError.unkownDevice || error.code == .unkownDevice }

    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: Error?) {}
}
