import CoreBluetooth

/// Takes arguments as the logs of Apple's systems do.
struct DeviceLog {
    func debug(_ format: StaticString, _ arguments: CVarArg...) {}
}

/// Logs objects by their descriptions.
final class LoggingDelegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private let log = DeviceLog()

    func centralManagerDidUpdateState(_ central: CBCentralManager) { log.debug("%@ %@", #function, central) }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        log.debug("%@ at %@", peripheral, RSSI)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        log.debug("%@ %{public}@", characteristic.uuid, characteristic)
        if let error = error as NSError? { log.debug("%@", error) }
    }

    func text(_ request: CBATTRequest, _ channel: CBL2CAPChannel, _ service: CBService) -> String {
        String(format: "%@ from %@ on %@, %@", request, request.central, channel, service)
    }
}
