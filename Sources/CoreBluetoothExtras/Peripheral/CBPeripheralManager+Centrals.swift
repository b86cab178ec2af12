import BLEHost
public import CoreBluetooth

extension CBPeripheralManager {
    /// The connected centrals, whether or not they use this app's services.
    ///
    /// If apps share a radio through the daemon, these are only the centrals that use this app's services, unless this
    /// is the only app that publishes or advertises.
    public var connectedCentrals: [CBCentral] { connections.map { object(for: $0.central) } }

    /// Returns the address of a connected central; `nil` if it is not connected.
    public func bluetoothAddress(of central: CBCentral) -> BluetoothAddress? {
        connections.first { $0.central.peer == central.peer }.map { BluetoothAddress($0.address) }
    }

    /// Ends the connection to a central.
    ///
    /// If apps share a radio through the daemon, this has no effect on a central that is not among
    /// ``connectedCentrals`` or that another app uses as well.
    public func disconnect(_ central: CBCentral) { dismiss(central) }
}
