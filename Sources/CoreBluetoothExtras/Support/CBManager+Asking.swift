import BLEHost
import CoreBluetooth
import Foundation

extension CBManager {
    /// Makes a request and waits for its result.
    ///
    /// A cancelled task stops waiting, but its request still gets a result, which must not be mistaken for that of a
    /// later request. So there is an observer per expected result, until the connection ends at the latest.
    ///
    /// - Parameters:
    ///   - event: Returns whether an event answers this request, and the result. Each event answers the oldest matching
    ///     request, except the end of a connection, which ends all requests on it.
    ///   - ask: Makes the request, which has exactly one answer; called after everything is ready for the answer.
    /// - Returns: The result from the event.
    /// - Throws: The error from the event, `CBError.notConnected` if Bluetooth is turned off, `CancellationError`, or
    ///   the error of `ask` if the request cannot be made.
    func answer<Value: Sendable>(
        to event: @escaping @Sendable (ClientEvent) -> Result<Value, any Error>?,
        ask: () throws -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let answer = Answer<Value>()
        let id = observers.wait { received in
            if let result = event(received) {
                answer.give(result)
                return if case .disconnected = received { .heard } else { .answered }
            }
            guard let loss = received.radioLoss else { return .passed }
            answer.give(.failure(loss))
            return .heard
        }
        do {
            try ask()
        } catch {
            observers.remove(id)
            throw error
        }
        return try await answer.value
    }

    /// Waits until a condition is met, or never will be, for whatever reason.
    ///
    /// - Parameters:
    ///   - look: Returns the current state if it is known; called once at first, and then after each event, when all
    ///     objects are up to date.
    ///   - ask: Requests the state; called if it is not known at first.
    /// - Returns: The value from `look`.
    /// - Throws: The error from `look`, `CBError.notConnected` if Bluetooth is turned off, or `CancellationError`.
    func outcome<Value: Sendable>(
        _ look: @escaping @Sendable (ClientEvent?) -> Result<Value, any Error>?,
        ask: () -> Void = {}
    ) async throws -> Value {
        try Task.checkCancellation()
        let answer = Answer<Value>()
        let id = observers.add { received in
            if let result = look(received) {
                answer.give(result)
            } else if let loss = received.radioLoss {
                answer.give(.failure(loss))
            }
        }
        defer { observers.remove(id) }
        // What was so before anybody listened is told by no event.
        if let result = look(nil) {
            answer.give(result)
        } else if state != .poweredOn {
            answer.give(.failure(CBError(.notConnected)))
        } else {
            ask()
        }
        return try await answer.value
    }
}

extension ClientEvent {
    /// The error for waiting tasks if Bluetooth is switched off; `nil` if it is not.
    var radioLoss: CBError? {
        if case .stateChanged(let state) = self, state != .poweredOn { CBError(.notConnected) } else { nil }
    }
}

extension CBPeripheral {
    /// Makes a request to the device and waits for its result.
    ///
    /// - Throws: `CBError.notConnected` if there is no connection, or it is lost.
    func answer<Value: Sendable>(
        to event: @escaping @Sendable (PeerEvent) -> Result<Value, Failure>?,
        ask: () -> Void
    ) async throws -> Value {
        guard let manager else { throw CBError(.notConnected) }
        let peer = self.peer
        return try await manager.answer(
            to: { received in
                switch received {
                case .peer(peer, let received, _):
                    event(received).map { $0.mapError { $0.error(about: .attribute) } }
                case .disconnected(peer, let failure, _):
                    .failure((failure ?? .notConnected).error(about: .connection))
                default: nil
                }
            },
            ask: {
                // Now that the end of the connection would be heard.
                guard state == .connected else { throw CBError(.notConnected) }
                ask()
            }
        )
    }
}
