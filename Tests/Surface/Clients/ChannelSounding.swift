import CoreBluetooth

/// Measures the distance where that can be done.
final class Rangefinder: NSObject, CBPeripheralDelegate {
    private(set) var distance: Double?
    private(set) var failure: Error?

    func start(_ peripheral: CBPeripheral) {
        guard CBCentralManager.supports(.channelSounding) else { return }
        peripheral.delegate = self
        let configuration = CBChannelSoundingSessionConfiguration(role: .initiator)
        if configuration.role == .initiator { peripheral.startChannelSoundingSession(configuration) }
    }

    func stop(_ peripheral: CBPeripheral) { peripheral.cancelChannelSoundingSession() }

    func peripheral(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    ) {
        if let results, results.distance >= 0 { distance = results.distance }
    }

    func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
        failure = error
    }
}
