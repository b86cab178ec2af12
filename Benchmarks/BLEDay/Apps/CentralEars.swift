import CoreBluetooth

/// The delegate methods that all centrals of a day have in common.
class CentralEars: NSObject, CBPeripheralDelegate {
    weak var app: DayCentral?

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        app?.hear("state") { app?.stateChanged(central.state) }
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        app?.hear("restored") { app?.restored(dict) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) { app?.hear("discovered") { app?.discovered(peripheral, advertisementData, RSSI.intValue) } }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        app?.hear("connected") { app?.connected(peripheral) }
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        app?.hear("failed") { app?.failed(peripheral, error) }
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        app?.hear("name") { app?.renamed(peripheral) }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        app?.hear("modified") { app?.modified(peripheral, invalidatedServices) }
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        app?.hear("rssi") { app?.answered(.rssi, nil, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        app?.hear("services") { app?.answered(.services, nil, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    {
        app?.hear("included") { app?.answered(.included, service, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        app?.hear("characteristics") { app?.answered(.characteristics, service, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverDescriptorsFor item: CBCharacteristic, error: (any Error)?) {
        app?.hear("descriptors") { app?.answered(.descriptors, item, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        app?.hear("value") { app?.told(item, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor item: CBCharacteristic, error: (any Error)?) {
        app?.hear("written") { app?.answered(.write, item, peripheral, error) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor item: CBCharacteristic,
        error: (any Error)?
    ) { app?.hear("notifying") { app?.answered(.notify, item, peripheral, error) } }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        app?.hear("descriptor") { app?.answered(.readDescriptor, descriptor, peripheral, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        app?.hear("descriptor written") { app?.answered(.writeDescriptor, descriptor, peripheral, error) }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        app?.hear("ready") { app?.ready(peripheral) }
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        app?.hear("channel") { app?.opened(channel, peripheral, error) }
    }
}

/// A delegate with the current API, which reports automatic reconnection.
final class ModernEars: CentralEars, CBCentralManagerDelegate {
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) { app?.hear("disconnected") { app?.disconnected(peripheral, error, isReconnecting: isReconnecting) } }
}

/// A delegate with the older API, which does not report automatic reconnection.
final class LegacyEars: CentralEars, CBCentralManagerDelegate {
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) { app?.hear("disconnected") { app?.disconnected(peripheral, error, isReconnecting: false) } }
}
