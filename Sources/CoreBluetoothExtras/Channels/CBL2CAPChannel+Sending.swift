public import CoreBluetooth

extension CBL2CAPChannel {
    /// The number of octets that the app has written to the output stream and that have not been sent yet.
    ///
    /// Octets that are unsent when the channel ends are never sent.
    public var unsentOctets: Int { unsent }

    /// Waits until everything that was written has been sent, or the channel has ended.
    ///
    /// Octets count as sent when the controller has them. It retransmits them until the peer has received them or the
    /// connection is lost.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitUntilSent() async throws {
        guard let manager else { return }
        let answer = PendingResult<Void>()
        let id = manager.observers.add { _ in if self.hasNothingToSend { answer.resolve(.success(())) } }
        defer { manager.observers.remove(id) }
        if hasNothingToSend { answer.resolve(.success(())) }
        try await answer.value
    }

    private var hasNothingToSend: Bool { unsent == 0 || !isOpen }
}
