import BLEHost
import CoreBluetooth
import Foundation

extension CBManager {
    /// Waits until the condition that `check` tests is met, or can no longer be met.
    ///
    /// - Parameters:
    ///   - check: Returns a result once the condition is met or can no longer be met; `nil` until then. Called first
    ///     without an event, and then after each event, when the app's objects are up to date.
    ///   - ask: Makes the request that leads to the condition. Called if the first call of `check` returns `nil`.
    /// - Returns: The value from `check`.
    /// - Throws: The error from `check`, `CBError.notConnected` if Bluetooth is turned off, `CancellationError`, or the
    ///   error from `ask` if the request cannot be made.
    func firstResult<Value: Sendable>(
        _ check: @escaping @Sendable (ClientEvent?) -> Result<Value, any Error>?,
        ask: () throws -> Void = {}
    ) async throws -> Value {
        try Task.checkCancellation()
        let answer = PendingResult<Value>()
        let id = observers.add { received in
            if let result = check(received) {
                answer.resolve(result)
            } else if let loss = received.radioLoss {
                answer.resolve(.failure(loss))
            }
        }
        defer { observers.remove(id) }
        // If the condition was met before the observer was added, no event will report that.
        if let result = check(nil) {
            answer.resolve(result)
        } else if state != .poweredOn {
            answer.resolve(.failure(CBError(.notConnected)))
        } else {
            try ask()
        }
        return try await answer.value
    }
}

extension ClientEvent {
    /// The error for waiting tasks if this event says that Bluetooth is off or gone; `nil` for any other event.
    var radioLoss: CBError? {
        if case .stateChanged(let state) = self, state != .poweredOn { CBError(.notConnected) } else { nil }
    }
}

extension CBPeripheral {
    /// Makes a request to the device and waits for its result.
    ///
    /// Results of other requests are ignored, even if they are about the same attribute.
    ///
    /// - Parameters:
    ///   - event: Returns the result in an event that answers the request; `nil` if the event has none.
    ///   - ask: Returns the request. Called when events for the request can be received.
    /// - Returns: The result from the event.
    /// - Throws: `CBError.invalidHandle` if the attribute does not belong to this peripheral, or no longer does;
    ///   `CBError.notConnected` if there is no connection; the error of the disconnection if the connection is lost.
    func answer<Value: Sendable>(
        to event: @escaping @Sendable (PeerEvent) -> Result<Value, Failure>?,
        ask: () -> CheckedRequest
    ) async throws -> Value {
        guard let manager else { throw CBError(.notConnected) }
        let peer = self.peer, number = reserveNumber()
        return try await manager.firstResult(
            { received in
                switch received {
                case .peer(peer, let received, number):
                    event(received).map { $0.mapError { $0.error(about: .attribute) } }
                case .disconnected(peer, let failure, _):
                    .failure((failure ?? .notConnected).error(about: .connection))
                default: nil
                }
            },
            ask: {
                let request = ask()
                if case .refused = request { throw CBError(.invalidHandle) }
                // Checked only now: from here on, the observer would receive the end of the connection.
                guard state == .connected, make(request, as: number) else { throw CBError(.notConnected) }
            }
        )
    }
}
