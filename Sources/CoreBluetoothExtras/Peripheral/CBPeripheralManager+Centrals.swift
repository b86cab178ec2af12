import BLEHost
public import CoreBluetooth

extension CBPeripheralManager {
    /// The centrals that are connected to this machine now, whether or not they use this app's services.
    public var connectedCentrals: [CBCentral] { connections.map { object(for: $0.central) } }

    /// Where a connected central was reached; `nil` if it is not connected.
    public func bluetoothAddress(of central: CBCentral) -> BluetoothAddress? {
        connections.first { $0.central.peer == central.peer }.map { BluetoothAddress($0.address) }
    }

    /// Ends the connection to a central, for every app of this machine.
    public func disconnect(_ central: CBCentral) { dismiss(central) }
}
