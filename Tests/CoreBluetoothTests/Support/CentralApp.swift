import CoreBluetooth

/// An app in the central role that writes down what it hears and keeps every peripheral.
final class CentralApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private var calls: [String] = []
    private(set) var peripherals: [CBPeripheral] = []
    private(set) var advertisements: [[String: Any]] = []
    private(set) var invalidated: [CBService] = []
    var channels: [CBL2CAPChannel] = []
    /// What to do besides when the app hears something that begins so.
    var reactions: [(prefix: String, action: () -> Void)] = []

    /// The calls since the last time.
    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    /// Lets go of all peripherals.
    func forget() { peripherals = [] }

    private func hear(_ call: String) {
        calls.append(call)
        for reaction in reactions where call.hasPrefix(reaction.prefix) { reaction.action() }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { hear("state \(central.state.rawValue)") }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if !peripherals.contains(where: { $0 === peripheral }) { peripherals.append(peripheral) }
        advertisements.append(advertisementData)
        hear("discovered \(peripheral.name ?? "-") \(RSSI)")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        hear("connected \(peripheral.state.rawValue)")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        hear("failed \(brief(error))")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {
        hear("disconnected \(brief(error)) \(peripheral.state.rawValue)\(isReconnecting ? " reconnecting" : "")")
    }

    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {
        peripherals.append(peripheral)
        hear("event \(event.rawValue)")
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { hear("name \(peripheral.name ?? "-")") }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        invalidated += invalidatedServices
        hear("modified \(invalidatedServices.map(\.uuid.uuidString))")
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        hear("rssi \(RSSI) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        hear("services \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    {
        hear("included \(service.uuid.uuidString) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        hear("characteristics \(service.uuid.uuidString) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverDescriptorsFor item: CBCharacteristic, error: (any Error)?) {
        hear("descriptors \(item.uuid.uuidString) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        hear("value \(item.uuid.uuidString) \(item.value.map { [UInt8]($0) } ?? []) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor item: CBCharacteristic, error: (any Error)?) {
        hear("written \(item.uuid.uuidString) \(brief(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor item: CBCharacteristic,
        error: (any Error)?
    ) {
        hear("notifying \(item.isNotifying) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        hear("descriptor \(descriptor.uuid.uuidString) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        hear("written \(descriptor.uuid.uuidString) \(brief(error))")
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { hear("ready") }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { channels.append(channel) }
        hear("channel \(channel.map { Int($0.psm) } ?? 0) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
        hear("sounding \(brief(error))")
    }
}
