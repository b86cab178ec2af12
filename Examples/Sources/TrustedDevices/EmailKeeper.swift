import CoreBluetooth

/// A peripheral whose one value is for paired centrals alone.
final class EmailKeeper: NSObject, CBPeripheralManagerDelegate {
    static let serviceUUID = CBUUID(string: "5A1D0001-93C4-4E0B-8B1F-6C3D2E7F9A10")
    static let emailUUID = CBUUID(string: "5A1D0002-93C4-4E0B-8B1F-6C3D2E7F9A10")

    private var manager: CBPeripheralManager!
    private(set) var email: String

    /// These properties and permissions are all that an app does for it: whoever is not paired yet is refused, which
    /// has the devices paired.
    let emailCharacteristic = CBMutableCharacteristic(
        type: emailUUID,
        properties: [.read, .notify, .notifyEncryptionRequired],
        value: nil,
        permissions: .readEncryptionRequired
    )

    init(email: String) {
        self.email = email
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Tells everybody who has subscribed.
    func change(to email: String) {
        self.email = email
        manager.updateValue(Data(email.utf8), for: emailCharacteristic, onSubscribedCentrals: nil)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.serviceUUID, primary: true)
        service.characteristics = [emailCharacteristic]
        manager.add(service)
        manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.serviceUUID]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let value = Data(email.utf8)
        guard request.offset <= value.count else {
            return peripheral.respond(to: request, withResult: .invalidOffset)
        }
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }
}
