import CoreBluetooth

/// A peripheral with one value that never changes and one that centrals read, write and subscribe to.
final class Publisher: NSObject, CBPeripheralManagerDelegate {
    static let firstServiceUUID = CBUUID(string: "E20A39F4-73F5-4BC4-A12F-17D1AD07A961")
    static let secondServiceUUID = CBUUID(string: "E20A39F4-73F5-4BC4-A12F-17D1AD07A962")
    static let fixedUUID = CBUUID(string: "08590F7E-DB05-467E-8757-72F6FAEB13D4")
    static let changingUUID = CBUUID(string: "08590F7E-DB05-467E-8757-72F6FAEB13D5")
    static let myValue = Data("fixed for ever".utf8)

    private(set) var log: [String] = []
    private(set) var isReadyCount = 0
    private var myPeripheralManager: CBPeripheralManager!
    private let output: (String) -> Void

    /// A value that is given makes a characteristic read-only: the system answers for the app.
    let fixedCharacteristic = CBMutableCharacteristic(
        type: fixedUUID,
        properties: .read,
        value: myValue,
        permissions: .readable
    )

    /// Without a value every read and write comes to the delegate.
    let myCharacteristic = CBMutableCharacteristic(
        type: changingUUID,
        properties: [.read, .write, .notify],
        value: nil,
        permissions: [.readable, .writeable]
    )

    private let myFirstService = CBMutableService(type: firstServiceUUID, primary: true)
    private let mySecondService = CBMutableService(type: secondServiceUUID, primary: true)

    init(output: @escaping (String) -> Void = { _ in }) {
        self.output = output
        super.init()
        myPeripheralManager = CBPeripheralManager(delegate: self, queue: nil, options: nil)
    }

    private func note(_ line: String) {
        log.append(line)
        output(line)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        myFirstService.characteristics = [fixedCharacteristic]
        mySecondService.characteristics = [myCharacteristic]
        myPeripheralManager.add(myFirstService)
        myPeripheralManager.add(mySecondService)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return note("Error publishing service: \(error.localizedDescription)") }
        note("Published \(service.uuid.uuidString)")
        guard service == mySecondService else { return }
        myPeripheralManager.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [myFirstService.uuid, mySecondService.uuid]
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return note("Error advertising: \(error.localizedDescription)") }
        note("Advertising")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.characteristic.uuid == myCharacteristic.uuid else { return }
        let value = myCharacteristic.value ?? Data()
        guard request.offset <= value.count else {
            return myPeripheralManager.respond(to: request, withResult: .invalidOffset)
        }
        request.value = value.subdata(in: request.offset..<value.count)
        myPeripheralManager.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests where request.characteristic.uuid == myCharacteristic.uuid {
            myCharacteristic.value = request.value
        }
        // One answer for all of them, with the first: they are one unit.
        myPeripheralManager.respond(to: requests[0], withResult: .success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        note("Central subscribed to characteristic \(characteristic.uuid.uuidString)")
        let updatedValue = Data("welcome".utf8)
        let didSendValue = myPeripheralManager.updateValue(
            updatedValue,
            for: myCharacteristic,
            onSubscribedCentrals: nil
        )
        if !didSendValue { note("The queue is full") }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { isReadyCount += 1 }
}
