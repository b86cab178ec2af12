package import BLEHost
import BLERuntime
import Foundation

// The part of peripheral managers that only `CoreBluetoothExtras` uses.
extension CBPeripheralManager {
    /// Advertises like ``startAdvertising(_:)``, but with all parameters that the host supports.
    ///
    /// - Parameters:
    ///   - request: The advertisement.
    ///   - number: The number of the request, from ``reserveAdvertisingNumber()``.
    /// - Returns: True if the request was sent to the host, which reports its result in an event.
    package func startAdvertising(_ request: AdvertisingRequest, as number: Int) -> Bool {
        guard acceptsCommands() else { return false }
        return beginAdvertising(request, as: number)
    }

    /// Returns a number for a request to advertise that is made later.
    package func reserveAdvertisingNumber() -> Int { content.withLock { $0.advertising.reserveNumber() } }

    /// The number of the app's request to advertise that the host's latest answer belongs to; `nil` if it belongs to
    /// none.
    ///
    /// Observers read it to find out which request an event answers.
    package var answeredAdvertisingNumber: Int? { content.withLock { $0.advertising.answeredNumber } }

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
