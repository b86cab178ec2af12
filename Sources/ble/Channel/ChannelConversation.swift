import CoreBluetooth

/// One channel, between standard input and standard output.
@MainActor
final class ChannelConversation {
    /// When a conversation is over, besides when the peer ends it.
    struct Patience: Equatable {
        /// Whether to stay when there is nothing more to send.
        var stays = false
        /// How many octets have to come in before.
        var count = 0
    }

    private let patience: Patience
    private let printer: Printer
    private let write: (Data) -> Void
    private var pipe: ChannelPipe?
    private var outcome: Result<Void, any Error>?
    private var ended: CheckedContinuation<Void, Never>?
    private var hasSentAll = false
    private var isInterrupted = false

    /// Creates a conversation; `write` takes what comes in, instead of standard output.
    init(_ patience: Patience, _ printer: Printer, write: ((Data) -> Void)? = nil) {
        self.patience = patience
        self.printer = printer
        self.write = write ?? { FileHandle.standardOutput.write($0) }
    }

    /// Sends what `next` gives until that is `nil`, and writes what comes in, until the conversation is over.
    ///
    /// - Throws: ``Trouble`` if the channel was lost, or closed before all had come in.
    func hold(through channel: CBL2CAPChannel, next: @escaping () async -> Data?) async throws {
        printer.print(fact("opened", of: channel))
        printer.remark("A channel to \(channel.peer.identifier), PSM \(channel.psm), is open.")
        let pipe = ChannelPipe(channel, echoes: false) { [weak self] in self?.hear($0) }
        self.pipe = pipe
        let input = Task {
            while outcome == nil, let data = await next() { await pipe.send(data) }
            hasSentAll = true
            closeIfDone()
        }
        defer { input.cancel() }
        closeIfDone()
        while outcome == nil { await withCheckedContinuation { ended = $0 } }
        let closed = fact("closed", of: channel, ["sent": pipe.sent, "received": pipe.received])
        printer.print(closed)
        printer.remark("The channel is closed: \(pipe.sent) octets out, \(pipe.received) in.")
        if case .failure(let error) = outcome { throw Trouble.failed("The channel", error) }
        if !isInterrupted, pipe.received < patience.count {
            throw Trouble.endedEarly(received: pipe.received, of: patience.count)
        }
    }

    /// Closes the channel after what was handed to it.
    func interrupt() {
        isInterrupted = true
        pipe?.close()
    }

    private func hear(_ event: ChannelPipe.Event) {
        switch event {
        case .received(let data):
            if printer.isForPeople { write(data) }
            printer.print(Fact("received", ["value": data.hexadecimal], text: ""))
            closeIfDone()
        case .ended(let error):
            outcome = error.map { .failure($0) } ?? .success(())
            ended?.resume()
            ended = nil
        }
    }

    private func closeIfDone() {
        guard let pipe, hasSentAll, !patience.stays, pipe.received >= patience.count else { return }
        pipe.close()
    }

    private func fact(_ event: String, of channel: CBL2CAPChannel, _ more: [String: Any] = [:]) -> Fact {
        let fields: [String: Any] = ["peer": channel.peer.identifier.uuidString, "psm": Int(channel.psm)]
        return Fact(event, fields.merging(more) { _, new in new }, text: "")
    }
}
