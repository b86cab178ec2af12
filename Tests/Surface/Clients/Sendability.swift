import CoreBluetooth

/// What an app needs of things that it hands from task to task.
protocol Titled: Sendable {
    var title: String { get }
}

extension CBManager: Titled { var title: String { "\(state.rawValue)" } }
extension CBPeer: Titled { var title: String { identifier.uuidString } }
extension CBAttribute: Titled { var title: String { uuid.uuidString } }
extension CBUUID: Titled { var title: String { uuidString } }
extension CBL2CAPChannel: Titled { var title: String { "\(psm)" } }
extension CBATTRequest: Titled { var title: String { "\(offset)" } }

/// The same of one class of several that have an ancestor in common.
protocol Sensor: AnyObject, Sendable {
    var name: String? { get }
    var state: CBPeripheralState { get }
}

protocol Ranged: Sendable {
    var maximumUpdateValueLength: Int { get }
}

protocol Field: Sendable {
    var value: Data? { get }
}

extension CBPeripheral: Sensor {}
extension CBCentral: Ranged {}
extension CBCharacteristic: Field {}

/// A promise that is made again by a subclass, as it has to be.
final class CountingPeripheralManager: CBPeripheralManager, @unchecked Sendable {
    private var count = 0
}

actor Titles {
    private(set) var titles: [String] = []

    func add(_ titled: any Titled) { titles.append(titled.title) }
}

func gather(_ peripheral: CBPeripheral, _ characteristic: CBCharacteristic, in titles: Titles) async {
    await titles.add(peripheral)
    Task.detached {
        await titles.add(characteristic)
        peripheral.readValue(for: characteristic)
    }
}
