import ArgumentParser
import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

struct ChannelOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a channel to a peripheral and exchange data.",
        discussion: """
            Sends standard input, and writes received data to standard output. Closes the channel when standard input \
            has ended and all of it has been sent.

            If the channel ends before all of standard input has been sent, for whatever reason, the exit status is 1 \
            and a message says how much was sent. If the radio is lost while there is nothing to send, the status is 69.

            Examples:
              ble channel open Store < file
              ble channel open Store --progress < file
              ble channel open Echo --psm 128 --count 6 <<< "hello"
              ble channel open Feed --stay < /dev/null > log
            """
    )

    @OptionGroup var peer: PeerOptions
    @Option(
        help: ArgumentHelp(
            "The channel's PSM, 1 to 255 (default: read from the peripheral's PSM characteristic).",
            valueName: "number"
        ),
        transform: Bounds(1...255).read
    )
    var psm: CBL2CAPPSM?
    @OptionGroup var conversation: ConversationOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await withPeripheral(peer, printer) { central, peripheral in
            let number = if let psm { psm } else { try await central.psm(of: peripheral) }
            let channel = try await central.openChannel(number, to: peripheral)
            let conversation = ChannelConversation(conversation.endConditions, printer, reports: conversation.progress)
            let interruption = Interruption.task(endingStepsOf: central)
            defer { interruption.cancel() }
            Task { await watch(peripheral, of: central, for: conversation) }
            defer { central.happened(.over) }
            let arrived = {
                _ = try? await peripheral.forgetServices()
                _ = try? await peripheral.findServices()
            }
            try await conversation.hold(through: channel, arrived: arrived) { await StandardInput.piece() }
        }
    }

    /// Ends the conversation when the connection is lost or the user interrupts.
    @MainActor
    private func watch(
        _ peripheral: CBPeripheral,
        of central: Central,
        for conversation: ChannelConversation
    ) async {
        do {
            try await central.wait(for: "Waiting for the end of the channel", needing: .connection(peripheral)) {
                switch $0 {
                case .over, .interrupted: .success(())
                default: nil
                }
            }
            conversation.interrupt()
        } catch {
            if let trouble = error as? CommandError { conversation.fail(trouble) }
        }
    }
}
