import ArgumentParser
import BLESimulation
import CoreBluetooth

struct ChannelServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Offer a channel and exchange data.",
        discussion: """
            Prints the channel's PSM, and publishes it in a characteristic of type \
            ABDD3056-28FA-441D-A470-55A75A52553A.

            The first channel is connected to standard input and output, and the command ends with it. The channel is \
            closed when standard input has ended and all of it has been sent; if standard input is empty from the \
            start, as with < /dev/null, the channel stays open until the peer closes it. With --echo, every \
            channel sends back what it receives, until interrupted.

            Fails if there is no radio within 10 s of the start. If the radio is lost while no channel is open, or \
            with --echo, the channel is offered again when the radio is back. If the radio is lost during an exchange, \
            the exit status is 69, or 1 if not all of standard input was sent.

            Examples:
              ble channel serve --name Store > received
              ble channel serve --name Echo --echo --json
            """
    )

    @Option(help: "The name to advertise.")
    var name = "Channel"
    @Flag(help: "Require an encrypted connection.")
    var encrypted = false
    @Flag(help: "Send received data back, on any number of channels.")
    var echo = false
    @OptionGroup var conversation: ConversationOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !echo || (conversation.endConditions == .init() && !conversation.progress) else {
            throw ValidationError(
                "Do not combine --echo with --stay, --count or --progress, which apply to a single channel."
            )
        }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let console = EventQueue<ChannelServer.Event?>()
            DefaultLink.name(hosts: name)
            let server = ChannelServer(name: name, encrypted: encrypted) { console.add($0) }
            if let remark = PrivateWorld.remark() { printer.remark(remark) }
            let interruption = Task {
                try await Interruption.wait()
                console.add(nil)
            }
            let start = RadioWatch.timer { server.giveUpOnRadio() }
            defer {
                interruption.cancel()
                start.cancel()
            }
            try await serve(with: server, console, printer)
            server.close()
        }
    }

    @MainActor
    private func serve(
        with server: ChannelServer,
        _ events: EventQueue<ChannelServer.Event?>,
        _ printer: Printer
    ) async throws {
        let echoes = ChannelEchoes(printer)
        while let event = await events.next() {
            switch event {
            case .published(let psm):
                printer.print(Fact("published", ["psm": Int(psm)], text: ""))
                printer.remark("Offering a channel on PSM \(psm).")
            case .advertising:
                printer.print(Fact("advertising", ["name": name], text: ""))
                printer.remark("Advertising as \(name); press Ctrl-C to stop.")
            case .opened(let channel):
                guard !echo else {
                    echoes.add(channel)
                    continue
                }
                let isInterrupted = try await talk(through: channel, of: server, events, printer)
                return await server.disconnect(channel.peer, within: .seconds(isInterrupted ? 2 : 10))
            case .radioChanged(let change): printer.announce(change)
            case .failed(let trouble): throw trouble
            }
        }
    }

    /// Runs the conversation until the channel is closed; returns true if the user interrupted it.
    @MainActor
    private func talk(
        through channel: CBL2CAPChannel,
        of server: ChannelServer,
        _ events: EventQueue<ChannelServer.Event?>,
        _ printer: Printer
    ) async throws -> Bool {
        var endConditions = conversation.endConditions
        endConditions.listens = true
        let conversation = ChannelConversation(endConditions, printer, reports: conversation.progress)
        // Channels that other centrals open during the conversation are released, which closes them.
        let listening = Task {
            while await events.next() != nil {}
            conversation.interrupt()
        }
        defer { listening.cancel() }
        do {
            try await conversation.hold(through: channel) { await StandardInput.piece() }
        } catch CommandError.failed where !server.hasRadio {
            throw CommandError.radioLost
        }
        return conversation.isInterrupted
    }
}
