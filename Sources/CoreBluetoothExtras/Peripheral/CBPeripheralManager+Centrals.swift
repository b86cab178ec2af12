import BLEHost
public import CoreBluetooth

extension CBPeripheralManager {
    /// The connected centrals, whether or not they use this app's services.
    ///
    /// Where apps share a radio through the daemon, those that do, and if this is the only app that publishes or
    /// advertises, all.
    public var connectedCentrals: [CBCentral] { connections.map { object(for: $0.central) } }

    /// Returns the address of a connected central; `nil` if it is not connected.
    public func bluetoothAddress(of central: CBCentral) -> BluetoothAddress? {
        connections.first { $0.central.peer == central.peer }.map { BluetoothAddress($0.address) }
    }

    /// Ends the connection to a central.
    ///
    /// Where apps share a radio through the daemon, nothing happens if the central is not among ``connectedCentrals``,
    /// or if another app uses it as well.
    public func disconnect(_ central: CBCentral) { dismiss(central) }
}
