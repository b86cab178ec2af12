import CoreBluetooth

/// What a view shows: the shape of an `ObservableObject`, all of it on the main actor, begun by a timer of the view's.
@MainActor final class BluetoothModel: NSObject {
    /// Called before anything changes, as `objectWillChange` is.
    var objectWillChange: () -> Void = {}
    private(set) var isOn = false { willSet { objectWillChange() } }
    private(set) var devices: [String] = [] { willSet { objectWillChange() } }
    private var central: CBCentralManager?

    func appear() {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(1)) {
            self.central = CBCentralManager(delegate: self, queue: nil)
        }
    }
}

extension BluetoothModel: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        isOn = central.state == .poweredOn
        if isOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if let name = peripheral.name, !devices.contains(name) { devices.append(name) }
    }
}
