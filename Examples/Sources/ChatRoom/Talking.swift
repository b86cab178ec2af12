import CoreBluetooth

/// A guest's conversation through one characteristic.
final class Talking: NSObject, CBPeripheralDelegate {
    private(set) var received: [String] = []
    private(set) var log: [String] = []
    private let talkingPeripheral: CBPeripheral
    private let talkingCharacteristic: CBCharacteristic
    private let name: String

    init(peripheral: CBPeripheral, characteristic: CBCharacteristic, name: String) {
        talkingPeripheral = peripheral
        talkingCharacteristic = characteristic
        self.name = name
    }

    func viewDidLoad() {
        talkingPeripheral.delegate = self
        talkingPeripheral.setNotifyValue(true, for: talkingCharacteristic)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let value = characteristic.value, let content = String(data: value, encoding: .utf8) else { return }
        received.append(content)
    }

    /// What was typed is sent when the text field returns.
    func textFieldShouldReturn(_ text: String) {
        guard !text.isEmpty else { return }
        let data = Data("[\(name)] \(text)\n".utf8)
        talkingPeripheral.writeValue(data, for: talkingCharacteristic, type: .withResponse)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { log.append("didWriteValueFor error: \(error.localizedDescription)") }
    }
}
