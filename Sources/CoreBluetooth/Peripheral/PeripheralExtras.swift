package import BLEHost
import BLERuntime
import Foundation

// What `CoreBluetoothExtras` needs of peripheral managers.
extension CBPeripheralManager {
    /// Advertises as ``startAdvertising(_:)`` does, with all that a host can be asked for.
    ///
    /// - Returns: Whether the host was asked, which answers.
    package func startAdvertising(_ request: AdvertisingRequest) -> Bool {
        guard acceptsCommands() else { return false }
        return beginAdvertising(request)
    }

    /// The centrals that are connected to this machine now, and where.
    package var connections: [ConnectedCentral] { content.withLock { $0.connections } }

    /// The object that stands for a central.
    package func object(for central: RemoteCentral) -> CBCentral { self.central(central) }

    /// Ends the link to `central`, whichever app uses it.
    package func dismiss(_ central: CBCentral) {
        guard acceptsCommands() else { return }
        session.send(.server(.disconnect(central.peer)))
    }
}
