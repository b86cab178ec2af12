import CoreBluetooth

/// Observes what changes by itself, as on Apple's systems.
final class Observer: NSObject {
    private var observations: [NSKeyValueObservation] = []
    private var scanning: NSKeyValueObservation?

    func watch(_ central: CBCentralManager, _ server: CBPeripheralManager, _ peripheral: CBPeripheral) {
        scanning = central.observe(\.isScanning, options: [.new, .old]) { _, change in
            if change.newValue == true, change.oldValue == false { print("scanning") }
        }
        observations = [
            central.observe(\.state) { central, _ in print(central.state.rawValue) },
            server.observe(\.isAdvertising, options: .new) { _, change in print(change.newValue ?? false) },
            peripheral.observe(\.state, options: [.initial, .new]) { peripheral, change in
                if change.newValue == .connected { print(peripheral.name ?? "?") }
            },
            peripheral.observe(\CBPeripheral.name) { peripheral, _ in print(peripheral.name ?? "?") },
        ]
    }

    func stop() {
        scanning?.invalidate()
        scanning = nil
        observations.removeAll()
    }
}
