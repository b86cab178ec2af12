package import BLEHost
import BLERuntime
import Foundation

// The part of peripheral managers that only `CoreBluetoothExtras` uses.
extension CBPeripheralManager {
    /// Advertises like ``startAdvertising(_:)``, but with all parameters that the host supports.
    ///
    /// - Returns: True if the request was sent to the host, which reports its result in an event.
    package func startAdvertising(_ request: AdvertisingRequest) -> Bool {
        guard acceptsCommands() else { return false }
        return beginAdvertising(request)
    }

    /// The connected centrals and their addresses.
    package var connections: [ConnectedCentral] { content.withLock { $0.connections } }

    /// Returns the app's object for `central`.
    package func object(for central: RemoteCentral) -> CBCentral { self.central(central) }

    /// Disconnects `central`.
    package func dismiss(_ central: CBCentral) {
        guard acceptsCommands() else { return }
        session.send(.server(.disconnect(central.peer)))
    }
}
