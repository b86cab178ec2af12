import ArgumentParser
import CoreBluetooth

struct ChannelOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a channel to a peripheral, and talk through it.",
        discussion: """
            Standard input is sent, and what comes in goes to standard output. The channel is closed when standard
            input has ended and all of it has been sent.

            Examples:
              ble channel open Store < file
              ble channel open Echo --psm 128 --count 6 <<< "hello"
              ble channel open Feed --stay < /dev/null > log
            """
    )

    @OptionGroup var peer: PeerOptions
    @Option(
        help: ArgumentHelp(
            "The number to open a channel to, 1 to 255; if left out, what the peripheral says in a characteristic.",
            valueName: "number"
        )
    )
    var psm: UInt16?
    @OptionGroup var conversation: ConversationOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard psm.map({ 1...255 ~= $0 }) ?? true else { throw ValidationError("--psm takes a number from 1 to 255.") }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await withPeripheral(peer, printer) { central, peripheral in
            let number = if let psm { psm } else { try await central.psm(of: peripheral) }
            let channel = try await central.openChannel(number, to: peripheral)
            let conversation = ChannelConversation(conversation.patience, printer)
            let interruption = Task {
                try await Interruption.wait()
                conversation.interrupt()
            }
            defer { interruption.cancel() }
            try await conversation.hold(through: channel) { await StandardInput.piece() }
        }
    }
}
