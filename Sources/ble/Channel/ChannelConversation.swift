import CoreBluetooth
import CoreBluetoothExtras

/// One channel, between standard input and standard output.
@MainActor
final class ChannelConversation {
    /// When a conversation is over, besides when the peer ends it.
    struct Patience: Equatable {
        /// Whether to stay when there is nothing more to send.
        var stays = false
        /// How many octets have to come in before.
        var count = 0
        /// Whether to stay when there was nothing to send at all.
        var listens = false
    }

    /// How far the octets of this end have come.
    private enum Output {
        /// There may be more of them.
        case reading
        /// The channel has been handed the last.
        case leaving
        /// They have gone out and, if the other end can be asked, arrived.
        case gone
    }

    /// How often progress is told.
    private static let period = Duration.seconds(1)

    private let patience: Patience
    private let printer: Printer
    private let reports: Bool
    private let clock: any Clock<Duration>
    private let write: (Data) -> Void
    private var pipe: ChannelPipe?
    private var outcome: Result<Void, any Error>?
    private var ended: CheckedContinuation<Void, Never>?
    private var output = Output.reading
    /// Whether the conversation was to end before it was over.
    private(set) var isInterrupted = false

    /// Creates a conversation.
    ///
    /// - Parameters:
    ///   - patience: When it is over.
    ///   - printer: Where facts go.
    ///   - reports: Whether to tell each second how far it is.
    ///   - clock: What seconds are told by.
    ///   - write: Takes what comes in, instead of standard output.
    init(
        _ patience: Patience,
        _ printer: Printer,
        reports: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(),
        write: ((Data) -> Void)? = nil
    ) {
        self.patience = patience
        self.printer = printer
        self.reports = reports
        self.clock = clock
        self.write = write ?? { StandardOutput.write($0) }
    }

    /// Sends what `next` gives until that is `nil`, and writes what comes in, until the conversation is over.
    ///
    /// - Parameters:
    ///   - channel: The channel, which nobody else uses.
    ///   - arrived: Returns when the other end has dealt with all that has gone out, if it can be asked.
    ///   - next: Gives the next octets to send.
    /// - Throws: ``Trouble`` if the channel was lost, or ended before all had gone out or come in.
    func hold(
        through channel: CBL2CAPChannel,
        arrived: @escaping () async -> Void = {},
        next: @escaping () async -> Data?
    ) async throws {
        let peer = DeviceKeys(channel.peer.identifier)
        printer.device = printer.device ?? { peer }
        printer.print(fact("opened", of: channel))
        printer.remark("A channel to \(channel.peer.identifier), PSM \(channel.psm), is open.")
        let pipe = ChannelPipe(channel, echoes: false) { [weak self] in self?.hear($0) }
        self.pipe = pipe
        let input = Task {
            while let data = await next() {
                await pipe.send(data)
                guard pipe.hasHandedOverAll else { return }
            }
            output = .leaving
            try await channel.waitUntilSent()
            await arrived()
            guard outcome == nil else { return }
            output = .gone
            closeIfDone()
        }
        let progress = Task { try await report(pipe) }
        defer {
            input.cancel()
            progress.cancel()
        }
        while outcome == nil { await withCheckedContinuation { ended = $0 } }
        // What the input has ready was to be sent, too.
        if output == .reading, pipe.pending == 0 { try await Task.sleep(for: .milliseconds(200)) }
        let closed = fact("closed", of: channel, ["sent": pipe.sent, "received": pipe.received])
        printer.print(closed)
        printer.remark("The channel is closed: \(pipe.sent) octets out, \(pipe.received) in.")
        try check(pipe)
        if !isInterrupted, pipe.received < patience.count {
            throw Trouble.endedEarly(received: pipe.received, of: patience.count)
        }
    }

    /// Tells how far both directions are, as long as the conversation lasts.
    private func report(_ pipe: ChannelPipe) async throws {
        var last = 0
        while reports {
            try await clock.sleep(for: Self.period)
            let (sent, received) = (pipe.sent, pipe.received)
            printer.print(Fact("progress", ["sent": sent, "received": received], text: ""))
            printer.remark("\(sent) octets out, \(received) in; \(sent + received - last) a second.")
            last = sent + received
        }
    }

    /// Finds out whether the conversation went as it was meant to go.
    private func check(_ pipe: ChannelPipe) throws {
        var trouble: Trouble?
        if case .failure(let error) = outcome { trouble = error as? Trouble ?? .failed("The channel", error) }
        let isUncertain = output == .leaving && (trouble != nil || isInterrupted)
        if pipe.pending > 0 || isUncertain { throw Trouble.unsent(after: pipe.sent, because: trouble?.description) }
        if let trouble { throw trouble }
    }

    /// Closes the channel.
    func interrupt() {
        isInterrupted = true
        pipe?.close()
    }

    /// Ends the conversation because of something that happened elsewhere.
    func fail(_ trouble: Trouble) {
        if outcome == nil { outcome = .failure(trouble) }
        pipe?.close()
    }

    private func hear(_ event: ChannelPipe.Event) {
        switch event {
        case .received(let data):
            if printer.isForPeople { write(data) }
            printer.print(Fact("received", ["value": data.hexadecimal], text: ""))
            closeIfDone()
        case .ended(let error):
            if outcome == nil { outcome = error.map { .failure($0) } ?? .success(()) }
            ended?.resume()
            ended = nil
        }
    }

    private func closeIfDone() {
        guard let pipe, output == .gone, !patience.stays, pipe.received >= patience.count else { return }
        guard pipe.sent > 0 || patience.count > 0 || !patience.listens else { return }
        pipe.close()
    }

    private func fact(_ event: String, of channel: CBL2CAPChannel, _ more: [String: Any] = [:]) -> Fact {
        let peer = channel.peer.identifier
        let fields = DeviceKeys(peer, name: (channel.peer as? CBPeripheral)?.name).fields
            .merging(["peer": peer.uuidString, "psm": Int(channel.psm)]) { own, _ in own }
        return Fact(event, fields.merging(more) { _, new in new }, text: "")
    }
}
