import CoreBluetooth

/// A peripheral whose manager is an object of its own, made by the first who asks, on any thread.
final class Doorbell: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    private lazy var server = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "doorbell"))

    /// Whether anybody can find it; the first question has it begin.
    var isOpen: Bool { server.isAdvertising }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: "Doorbell"])
    }
}
