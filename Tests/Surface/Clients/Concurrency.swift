@preconcurrency import CoreBluetooth

/// Objects that cross from one task to another.
actor Registry {
    private var peripherals: [UUID: CBPeripheral] = [:]
    private var waiting: [UUID: CheckedContinuation<CBManagerState, Error>] = [:]

    func keep(_ peripheral: CBPeripheral) { peripherals[peripheral.identifier] = peripheral }
    func peripheral(_ identifier: UUID) -> CBPeripheral? { peripherals[identifier] }
}

/// The delegate of a queue of its own, which hands on what it hears.
final class Bridge: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    let registry = Registry()
    private let states: AsyncStream<CBManagerState>.Continuation

    init(_ states: AsyncStream<CBManagerState>.Continuation) { self.states = states }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { states.yield(central.state) }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let registry = registry
        Task { await registry.keep(peripheral) }
    }
}

/// A model that lives on the main actor, in the two ways that there are.
@MainActor final class Nonisolated: NSObject, CBCentralManagerDelegate {
    var state = CBManagerState.unknown

    nonisolated func centralManagerDidUpdateState(_ central: CBCentralManager) {
        let state = central.state
        Task { @MainActor in self.state = state }
    }
}

@MainActor final class Isolated: NSObject {
    lazy var central = CBCentralManager(delegate: self, queue: .main)
    var seen: [CBPeripheral] = []
}

extension Isolated: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        seen.append(peripheral)
    }
}

/// What is `Sendable` by itself.
func send<Value: Sendable>(_: Value) {}

func sendAll() {
    send((CBManagerState.poweredOn, CBPeripheralState.connected, CBManager.authorization))
    send((CBCharacteristicProperties.read, CBAttributePermissions.readable, CBCentralManager.Feature.channelSounding))
    send((CBError(.unknown), CBATTError(.success), CBError.Code.unknown, CBATTError.Code.success))
    send(CBConnectionEventMatchingOption.serviceUUIDs)
}
