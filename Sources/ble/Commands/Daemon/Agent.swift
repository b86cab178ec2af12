import ArgumentParser

struct Agent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer the questions of pairing for all apps that share the radio.",
        discussion: """
            Without somebody who answers, devices are paired where no question is needed, and with nobody else. Of \
            several agents, the one that came last is asked. It also shows what apps want their user to be told of \
            connections, losses and notifications while they sleep. Ctrl-C ends it. Without a daemon there is nothing \
            to answer; one that BLUETOOTH_HOST names is waited for.

            With --desktop, notifications ask, which have buttons. They show digits, but none can be typed in. One \
            that is closed says no.

            Examples:
              ble agent
              ble agent --pairing yes-no --json
              ble agent --desktop      in the session of a desktop
            """
    )

    @Flag(help: "Ask by notifications on the desktop instead of in the terminal.")
    var desktop = false
    @OptionGroup var pairing: PairingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard desktop, let means = pairing.pairing, means != .display, means != .yesNo else { return }
        throw ValidationError(
            "With --desktop, --pairing is display or yes-no: nothing can be typed into a notification."
        )
    }

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingTrouble {
            let desktop = desktop ? try await DesktopNotifications.open() : nil
            try DaemonChoice.own.check()
            let interruption = Interruption()
            let ending = Task { try await interruption.wait() }
            var trouble: Trouble?
            desktop?.onLoss = {
                trouble = $0
                ending.cancel()
            }
            var options = pairing
            if desktop != nil { options.pairing = options.pairing ?? .yesNo }
            let desk = PairingDesk(
                options,
                printer,
                notices: desktop.map { PairingNotices($0) },
                isForAllApps: true
            )
            let alerts = AlertDesk(printer, desktop)
            let place = desktop == nil ? "here" : "on the desktop"
            printer.remark("Questions of pairing are asked \(place); Ctrl-C ends it.")
            _ = await ending.result
            // A session that ends at the same time is no trouble.
            let loss = trouble
            desk.close()
            alerts.close()
            await desktop?.close()
            if let loss { throw loss }
        }
    }
}
