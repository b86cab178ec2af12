package import BLEHost
import BLERuntime
import Foundation

// What `CoreBluetoothExtras` needs of peripheral managers.
extension CBPeripheralManager {
    /// Advertises like ``startAdvertising(_:)``, with all parameters of the host.
    ///
    /// - Returns: True if a request was sent to the host, which answers.
    package func startAdvertising(_ request: AdvertisingRequest) -> Bool {
        guard acceptsCommands() else { return false }
        return beginAdvertising(request)
    }

    /// The connected centrals and their addresses.
    package var connections: [ConnectedCentral] { content.withLock { $0.connections } }

    /// Returns the object for a central.
    package func object(for central: RemoteCentral) -> CBCentral { self.central(central) }

    /// Disconnects `central`.
    package func dismiss(_ central: CBCentral) {
        guard acceptsCommands() else { return }
        session.send(.server(.disconnect(central.peer)))
    }
}
