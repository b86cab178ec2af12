import CoreBluetooth

extension CBCentralManager: @unchecked @retroactive Sendable {}
extension CBPeripheralManager: @unchecked @retroactive Sendable {}
extension CBPeripheral: @unchecked @retroactive Sendable {}
extension CBCentral: @unchecked @retroactive Sendable {}
extension CBService: @unchecked @retroactive Sendable {}
extension CBCharacteristic: @unchecked @retroactive Sendable {}
extension CBDescriptor: @unchecked @retroactive Sendable {}

/// What an app keeps, since it promises that this is safe.
actor Library {
    private var peripherals: [UUID: CBPeripheral] = [:]

    func keep(_ peripheral: CBPeripheral) { peripherals[peripheral.identifier] = peripheral }
}

final class Holder: @unchecked Sendable {
    nonisolated(unsafe) var uuid: CBUUID?
    var peripheral: CBPeripheral?
}

nonisolated(unsafe) let service = CBUUID(string: "180D")
