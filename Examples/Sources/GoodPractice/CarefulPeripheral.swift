import CoreBluetooth

/// A peripheral that respects the limits of advertising, is seen only when its user wants it, and keeps what is
/// private for those whom it trusts.
final class CarefulPeripheral: NSObject, CBPeripheralManagerDelegate {
    static let serviceUUID = CBUUID(string: "2F8E0001-6D3B-4C55-9B0F-1E2D3C4B5A69")
    static let pulseUUID = CBUUID(string: "2F8E0002-6D3B-4C55-9B0F-1E2D3C4B5A69")
    static let emailUUID = CBUUID(string: "2F8E0003-6D3B-4C55-9B0F-1E2D3C4B5A69")

    private(set) var log: [String] = []
    private var myPeripheral: CBPeripheralManager!
    private let localName: String
    private let extraServices: [CBUUID]

    /// Changes often, so centrals should subscribe instead of reading it again and again.
    let myCharacteristic = CBMutableCharacteristic(
        type: pulseUUID,
        properties: [.read, .notify],
        value: nil,
        permissions: .readable
    )

    /// Only centrals that have been paired may read this or subscribe to it.
    let emailCharacteristic = CBMutableCharacteristic(
        type: emailUUID,
        properties: [.read, .notifyEncryptionRequired],
        value: nil,
        permissions: .readEncryptionRequired
    )

    init(localName: String, extraServices: [CBUUID] = []) {
        self.localName = localName
        self.extraServices = extraServices
        super.init()
        myPeripheral = CBPeripheralManager(delegate: self, queue: nil)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.serviceUUID, primary: true)
        service.characteristics = [myCharacteristic, emailCharacteristic]
        peripheral.add(service)
    }

    /// When to be seen is the user's choice.
    func userWantsToBeSeen(_ wants: Bool) {
        guard wants else { return myPeripheral.stopAdvertising() }
        // Name and services are all that may be advertised: 28 octets, and 10 more for the name.
        myPeripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: localName,
            CBAdvertisementDataServiceUUIDsKey: [Self.serviceUUID] + extraServices,
        ])
    }

    var isAdvertising: Bool { myPeripheral.isAdvertising }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        log.append(error.map { "Error advertising: \($0.localizedDescription)" } ?? "Advertising")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        log.append("Subscribed to \(characteristic.uuid.uuidString)")
        // Whoever was looked for has come: advertising would only cost energy.
        myPeripheral.stopAdvertising()
        myPeripheral.updateValue(Data([72]), for: myCharacteristic, onSubscribedCentrals: nil)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let value = request.characteristic.uuid == Self.emailUUID ? Data("me@example.org".utf8) : Data([71])
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: request.offset > value.count ? .invalidOffset : .success)
    }
}
