import CoreBluetooth
import CoreBluetoothExtras

/// The pairings of a session: the prompts that the program answers, and the pairings that its commands start.
@MainActor
final class SessionPairing {
    private var pairing: BluetoothPairing?
    /// The prompts without an answer.
    private var prompts: [PairingPrompt] = []
    private let emit: (String, UUID, [String: Any]) -> Void

    /// Starts to receive pairing events.
    ///
    /// - Parameters:
    ///   - capability: The program's means of showing digits and answering questions; `nil` to receive no prompts.
    ///   - emit: Writes an event about the device with this identifier.
    init(_ capability: PairingCapability?, emit: @escaping (String, UUID, [String: Any]) -> Void) {
        self.emit = emit
        pairing = BluetoothPairing(capability: capability, queue: .main) { [weak self] event in
            MainActor.assumeIsolated { self?.receive(event) }
        }
    }

    /// Pairs with a connected device.
    func pair(with peripheral: CBPeripheral) async throws -> PairingMethod {
        guard let pairing else { throw CancellationError() }
        return try await pairing.pair(with: peripheral)
    }

    /// Removes the bond with a device; this ends the device's connection.
    func removeBond(with peripheral: CBPeripheral) async throws {
        try await pairing?.removeBond(with: peripheral.identifier)
    }

    /// Answers the open prompt about the device or central with this identifier; `title` names it in errors.
    ///
    /// - Throws: ``SessionFailure`` if there is no such prompt, or the prompt needs another kind of answer.
    func answer(_ command: SessionCommand, about identifier: UUID, title: String) throws {
        guard let index = prompts.firstIndex(where: { $0.identifier == identifier }) else {
            throw SessionFailure(.pairingFailed, "There is no open pairing prompt for \(title).")
        }
        let prompt = prompts[index]
        switch (prompt.question, command.accept, command.digits) {
        case (_, false, _): prompt.reject()
        case (.consent, true, _), (.compare, true, _): prompt.accept()
        case (.enter, _, let digits?): prompt.enter(digits)
        case (.show, true, _): return
        case (.enter, _, nil): throw SessionFailure(.invalid, "The prompt needs “digits”, or “accept”: false.")
        default: throw SessionFailure(.invalid, "The prompt needs “accept”.")
        }
        prompts.remove(at: index)
    }

    private func receive(_ event: BluetoothPairing.Event) {
        switch event {
        case .asked(let prompt):
            prompts.removeAll { $0.identifier == prompt.identifier }
            prompts.append(prompt)
            emit("pairing_asked", prompt.identifier, prompt.keys)
        case .withdrawn(let peer): prompts.removeAll { $0.identifier == peer }
        case .paired(let peer, let method, let isBonded):
            prompts.removeAll { $0.identifier == peer }
            emit("paired", peer, ["method": "\(method)", "bonded": isBonded])
        case .failed(let peer, let error):
            prompts.removeAll { $0.identifier == peer }
            emit("pairing_failed", peer, ["reason": "\(error)"])
        }
    }
}
