public import CoreBluetooth

extension CBL2CAPChannel {
    /// How many octets were written to the output stream and have not gone out; of a channel that has ended, how many
    /// never will.
    public var unsentOctets: Int { unsent }

    /// Waits until all that was written has gone out, or the channel has ended.
    ///
    /// What has gone out is with the controller, which sends it again until the other device has it or the connection
    /// is lost.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    public func waitUntilSent() async throws {
        guard let manager else { return }
        let answer = Answer<Void>()
        let id = manager.observers.wait { _ in
            guard self.hasNothingToSend else { return .passed }
            answer.give(.success(()))
            return .answered
        }
        defer { manager.observers.remove(id) }
        if hasNothingToSend { answer.give(.success(())) }
        try await answer.value
    }

    private var hasNothingToSend: Bool { unsent == 0 || !isOpen }
}
