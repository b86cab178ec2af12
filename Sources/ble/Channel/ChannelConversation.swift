import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

/// An exchange of data over one L2CAP channel, usually between the peer and the standard input and output.
@MainActor
final class ChannelConversation {
    /// The conditions under which this side ends a conversation.
    ///
    /// The peer can always end it.
    struct EndConditions: Equatable {
        /// True if the channel stays open when there is nothing more to send.
        var stays = false
        /// The number of octets that must be received before the channel is closed.
        var count = 0
        /// True if the channel stays open when nothing was sent at all and ``count`` is 0.
        var listens = false
    }

    /// The progress of the octets to send.
    private enum Output {
        /// The input may contain more octets to send.
        case reading
        /// The channel has accepted the last octet.
        case leaving
        /// All octets have been sent; if arrival can be verified, they have also arrived.
        case gone
    }

    /// The interval between progress reports.
    private static let period = Duration.seconds(1)

    private let endConditions: EndConditions
    private let printer: Printer
    private let reports: Bool
    private let clock: any Clock<Duration>
    private let write: (Data) -> Void
    private var pipe: ChannelPipe?
    private var outcome: Result<Void, any Error>?
    private var ended: CheckedContinuation<Void, Never>?
    private var output = Output.reading
    /// True if the user interrupted the conversation before its end.
    private(set) var isInterrupted = false

    /// Creates a conversation.
    ///
    /// - Parameters:
    ///   - endConditions: The conditions under which this side ends the conversation.
    ///   - printer: Prints the events of the conversation.
    ///   - reports: True to report the progress each second.
    ///   - clock: The clock for the reports.
    ///   - write: Called with received octets; `nil` to write them to standard output.
    init(
        _ endConditions: EndConditions,
        _ printer: Printer,
        reports: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(),
        write: ((Data) -> Void)? = nil
    ) {
        self.endConditions = endConditions
        self.printer = printer
        self.reports = reports
        self.clock = clock
        self.write = write ?? { StandardOutput.write($0) }
    }

    /// Sends the octets that `next` returns, until it returns `nil`, and writes received octets, until the conversation
    /// ends.
    ///
    /// - Parameters:
    ///   - channel: The channel. Nothing else may use it.
    ///   - arrived: Called when everything has been sent; returns when the peer has handled it. The default returns
    ///     immediately.
    ///   - next: Returns the next octets to send.
    /// - Throws: ``CommandError`` if the channel was lost, or ended before everything was sent and received.
    func hold(
        through channel: CBL2CAPChannel,
        arrived: @escaping () async -> Void = {},
        next: @escaping () async -> Data?
    ) async throws {
        let peer = DeviceKeys(channel.peer.identifier)
        printer.device = printer.device ?? { peer }
        printer.print(fact("opened", of: channel))
        printer.remark("Opened a channel to \(channel.peer.identifier), PSM \(channel.psm).")
        let pipe = ChannelPipe(channel, echoes: false) { [weak self] in self?.receive($0) }
        self.pipe = pipe
        let input = Task {
            while let data = await next() {
                await pipe.send(data)
                guard pipe.hasSentAll else { return }
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
        // The input may already hold more octets. They get time to be read, so that ``check(_:)`` reports them as
        // unsent.
        if output == .reading, pipe.pending == 0 { try await Task.sleep(for: .milliseconds(200)) }
        let closed = fact("closed", of: channel, ["sent": pipe.sent, "received": pipe.received])
        printer.print(closed)
        printer.remark("The channel is closed: \(pipe.sent.withNoun("octet")) sent, \(pipe.received) received.")
        try check(pipe)
        if !isInterrupted, pipe.received < endConditions.count {
            throw CommandError.endedEarly(received: pipe.received, of: endConditions.count)
        }
    }

    /// Reports the progress in both directions until the conversation ends.
    private func report(_ pipe: ChannelPipe) async throws {
        var last = 0
        while reports {
            try await clock.sleep(for: Self.period)
            let (sent, received) = (pipe.sent, pipe.received)
            printer.print(Fact("progress", ["sent": sent, "received": received], text: ""))
            let total = sent + received
            printer.remark("\(sent.withNoun("octet")) sent, \(received) received; \(total - last) per second.")
            last = total
        }
    }

    /// Throws an error if the conversation did not end as requested.
    private func check(_ pipe: ChannelPipe) throws {
        var trouble: CommandError?
        if case .failure(let error) = outcome { trouble = error as? CommandError ?? .failed("The channel", error) }
        let isUncertain = output == .leaving && (trouble != nil || isInterrupted)
        if pipe.pending > 0 || isUncertain {
            throw CommandError.unsent(after: pipe.sent, because: trouble?.description)
        }
        if let trouble { throw trouble }
    }

    /// Closes the channel, because the user interrupted the conversation.
    func interrupt() {
        isInterrupted = true
        pipe?.close()
    }

    /// Ends the conversation with an error that does not come from the channel, such as a lost connection.
    func fail(_ trouble: CommandError) {
        if outcome == nil { outcome = .failure(trouble) }
        pipe?.close()
    }

    private func receive(_ event: ChannelPipe.Event) {
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
        guard let pipe, output == .gone, !endConditions.stays, pipe.received >= endConditions.count else { return }
        guard pipe.sent > 0 || endConditions.count > 0 || !endConditions.listens else { return }
        pipe.close()
    }

    private func fact(_ event: String, of channel: CBL2CAPChannel, _ more: [String: Any] = [:]) -> Fact {
        let peer = channel.peer.identifier
        let fields = DeviceKeys(peer, name: (channel.peer as? CBPeripheral)?.name).fields
            .merging(["peer": peer.uuidString, "psm": Int(channel.psm)]) { own, _ in own }
        return Fact(event, fields.merging(more) { _, new in new }, text: "")
    }
}
