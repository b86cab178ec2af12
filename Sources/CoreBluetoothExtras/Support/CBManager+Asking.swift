import BLEHost
import CoreBluetooth
import Foundation

extension CBManager {
    /// Asks for something, and waits for what comes of it.
    ///
    /// A task that is cancelled waits no longer, yet what it asked for is answered all the same: the answer goes to
    /// nobody, and not to a later question that it would fit. So there are as many who listen as the host owes answers,
    /// which end with the connection at the latest.
    ///
    /// - Parameters:
    ///   - event: Whether an event answers this, and how; each answers the oldest question that it fits, but for the
    ///     end of a connection, which ends all that were asked in it.
    ///   - ask: Asks for what is answered once, whatever happens; called after all is prepared for the answer.
    /// - Returns: What the event says.
    /// - Throws: What the event says, or `CBError.notConnected` if Bluetooth goes off, or `CancellationError`, or what
    ///   `ask` throws if nothing can be asked.
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

    /// Waits until something is so, or never will be, whoever brings that about.
    ///
    /// - Parameters:
    ///   - look: Says what is so, if that is known: once to begin with, and then after each event, when all objects are
    ///     up to date.
    ///   - ask: Brings it about; called if it is not known to begin with.
    /// - Returns: What `look` says.
    /// - Throws: What `look` says, or `CBError.notConnected` if Bluetooth goes off, or `CancellationError`.
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
    /// What those hear who wait for something, if Bluetooth goes off; `nil` if it does not.
    var radioLoss: CBError? {
        if case .stateChanged(let state) = self, state != .poweredOn { CBError(.notConnected) } else { nil }
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
