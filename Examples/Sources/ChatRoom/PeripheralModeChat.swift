import CoreBluetooth

/// The chat room: greets who subscribes, and forwards what each guest writes to all.
final class PeripheralModeChat: NSObject, CBPeripheralManagerDelegate {
    /// The newest line first, as on the screen.
    private(set) var logText = ""
    private var peripheralManager: CBPeripheralManager!
    private var chatCharacteristic: CBMutableCharacteristic?
    private var unsent: [(Data, [CBCentral]?)] = []

    override init() {
        super.init()
        peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// The switch for being seen.
    ///
    /// The tutorial puts the services under the key of service data, which Core Bluetooth does not advertise.
    func switchValueChanged(isOn: Bool) {
        guard isOn else { return peripheralManager.stopAdvertising() }
        peripheralManager.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: kServiceUUID)],
            CBAdvertisementDataLocalNameKey: kPeripheralName,
        ])
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return show("State: \(peripheral.state.rawValue)\n") }
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: kCharacteristicUUID),
            properties: [.write, .read, .notify],
            value: nil,
            permissions: [.readable, .writeable]
        )
        let chatService = CBMutableService(type: CBUUID(string: kServiceUUID), primary: true)
        chatService.characteristics = [characteristic]
        chatCharacteristic = characteristic
        peripheralManager.add(chatService)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        let total = chatCharacteristic?.subscribedCentrals?.count ?? 0
        let hello =
            "[\(kPeripheralName)] Welcome! Here is \(kPeripheralName), "
            + "(Total: \(total), Max Length: \(central.maximumUpdateValueLength))\n"
        sendText(hello, central: central)
        show(hello)
    }

    /// Sends to one central, or to all that subscribed.
    private func sendText(_ text: String, central: CBCentral?) {
        unsent.append((Data(text.utf8), central.map { [$0] }))
        flush()
    }

    private func flush() {
        guard let chatCharacteristic else { return }
        while let (data, centrals) = unsent.first {
            guard peripheralManager.updateValue(data, for: chatCharacteristic, onSubscribedCentrals: centrals) else {
                return
            }
            unsent.removeFirst()
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { flush() }

    func textFieldShouldReturn(_ text: String) {
        guard !text.isEmpty else { return }
        let content = "[\(kPeripheralName)] \(text)\n"
        sendText(content, central: nil)
        show(content)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        peripheralManager.respond(to: requests[0], withResult: .success)
        for request in requests {
            guard let value = request.value, let content = String(data: value, encoding: .utf8) else { continue }
            sendText(content, central: nil)
            show(content)
        }
    }

    private func show(_ line: String) { logText = line + logText }
}
