import CoreBluetooth

/// An app in the peripheral role that writes down what it hears, and answers nothing by itself.
final class PeripheralApp: NSObject, CBPeripheralManagerDelegate {
    private var calls: [String] = []
    private(set) var reads: [CBATTRequest] = []
    private(set) var writes: [[CBATTRequest]] = []
    private(set) var centrals: [CBCentral] = []
    private(set) var added: [CBService] = []
    private(set) var psm: CBL2CAPPSM = 0
    var channels: [CBL2CAPChannel] = []

    /// The calls since the last time.
    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        calls.append("state \(peripheral.state.rawValue)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        calls.append("advertising \(brief(error)) \(peripheral.isAdvertising)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        added.append(service)
        calls.append("added \(service.uuid.uuidString) \(brief(error))")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        centrals.append(central)
        let count = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
        calls.append("subscribed \(characteristic.uuid.uuidString) \(count) \(central.maximumUpdateValueLength)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        let count = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
        calls.append("unsubscribed \(characteristic.uuid.uuidString) \(count)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        reads.append(request)
        calls.append("read \(request.characteristic.uuid.uuidString) \(request.offset)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        writes.append(requests)
        let parts = requests.map { "\($0.offset):\($0.value.map { [UInt8]($0) } ?? [])" }
        calls.append("write \(parts.joined(separator: " "))")
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { calls.append("ready") }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        psm = PSM
        calls.append("published \(PSM) \(brief(error))")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didOpen channel: CBL2CAPChannel?,
        error: (any Error)?
    ) {
        if let channel { channels.append(channel) }
        calls.append("channel \(channel.map { Int($0.psm) } ?? 0) \(brief(error))")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) { calls.append("unpublished \(PSM) \(brief(error))") }
}
