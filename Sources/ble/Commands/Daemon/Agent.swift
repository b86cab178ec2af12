import ArgumentParser

struct Agent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Answer pairing prompts for all apps that use the daemon.",
        discussion: """
            Without an agent, only pairings that need no answer succeed. If several agents run, the one that started \
            last is asked. The agent also shows the alerts about connections, disconnections and notifications that \
            suspended apps have requested. Ctrl-C ends the agent. If no daemon is running, the command fails; but if \
            BLUETOOTH_HOST names a daemon, the agent waits for it to start.

            With --desktop, prompts are notifications with buttons. They can show digits, but you cannot type any, \
            so --pairing must be yes-no (the default) or display. Closing a notification rejects the pairing.

            Examples:
              ble agent
              ble agent --pairing yes-no --json
              ble agent --desktop      in a desktop session
            """
    )

    @Flag(help: "Use desktop notifications instead of the terminal.")
    var desktop = false
    @OptionGroup var pairing: PairingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard desktop, let means = pairing.pairing, means != .display, means != .yesNo else { return }
        throw ValidationError(
            "With --desktop, --pairing must be display or yes-no: you cannot type into a notification."
        )
    }

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let desktop = desktop ? try await DesktopNotifications.open() : nil
            try DaemonChoice.own.check()
            let interruption = Interruption()
            let ending = Task { try await interruption.wait() }
            var trouble: CommandError?
            desktop?.onLoss = {
                trouble = $0
                ending.cancel()
            }
            var options = pairing
            if desktop != nil { options.pairing = options.pairing ?? .yesNo }
            let desk = PairingPrompts(
                options,
                printer,
                notices: desktop.map { PairingNotifications($0) },
                isForAllApps: true
            )
            let alerts = AlertPresenter(printer, desktop)
            let place = desktop == nil ? "here" : "on the desktop"
            printer.remark("Pairing prompts appear \(place); Ctrl-C ends the agent.")
            _ = await ending.result
            // The error is read now: a loss of the desktop while it is being closed is not an error of the command.
            let loss = trouble
            desk.close()
            alerts.close()
            await desktop?.close()
            if let loss { throw loss }
        }
    }
}
