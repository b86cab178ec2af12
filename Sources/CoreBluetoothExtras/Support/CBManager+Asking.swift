import BLEHost
import CoreBluetooth
import Foundation

extension CBManager {
    /// Asks for something, and waits for what comes of it.
    ///
    /// - Parameters:
    ///   - event: Whether an event answers this, and how; each answers the oldest question that it fits.
    ///   - ask: Asks; called after all is prepared for the answer.
    /// - Returns: What the event says.
    /// - Throws: What the event says, or `CBError.notConnected` if Bluetooth goes off, or `CancellationError`.
    func answer<Value: Sendable>(
        to event: @escaping @Sendable (ClientEvent) -> Result<Value, any Error>?,
        ask: () -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let answer = Answer<Value>()
        let id = observers.wait { received in
            if let result = event(received) {
                answer.give(result)
                return .answered
            }
            if case .stateChanged(let state) = received, state != .poweredOn {
                answer.give(.failure(CBError(.notConnected)))
                return .heard
            }
            return .passed
        }
        defer { observers.remove(id) }
        ask()
        return try await answer.value
    }
}

extension CBPeripheral {
    /// Asks the device for something, and waits for what comes of it.
    ///
    /// - Throws: `CBError.notConnected` if there is no connection, or none any more.
    func answer<Value: Sendable>(
        to event: @escaping @Sendable (PeerEvent) -> Result<Value, Failure>?,
        ask: () -> Void
    ) async throws -> Value {
        guard state == .connected, let manager else { throw CBError(.notConnected) }
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
            ask: ask
        )
    }
}
