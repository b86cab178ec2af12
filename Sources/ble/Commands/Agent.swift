import ArgumentParser

struct Agent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer the questions of pairing for all apps that share the radio.",
        discussion: """
            Without somebody who answers, devices are paired where no question is needed, and with nobody else. Of
            several agents, the one that came last is asked. Ctrl-C ends it.

            Examples:
              ble agent
              ble agent --pairing yes-no --json
            """
    )

    @OptionGroup var pairing: PairingOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output), interruption = Interruption()
        let desk = PairingDesk(pairing, printer)
        printer.remark("Questions of pairing are asked here; Ctrl-C ends it.")
        try await interruption.wait()
        desk.close()
    }
}
