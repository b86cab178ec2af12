import ArgumentParser
import CoreBluetoothExtras

struct Agent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer the questions of pairing for all apps that share the radio.",
        discussion: """
            Without somebody who answers, devices are paired where no question is needed, and with nobody else. Of
            several agents, the one that came last is asked. It also shows what apps want their user to be told of
            connections, losses and notifications while they sleep. Ctrl-C ends it.

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
        let alerts = BluetoothAlerts(queue: .main) { alert in
            MainActor.assumeIsolated { printer.print(Fact(alert)) }
        }
        printer.remark("Questions of pairing are asked here; Ctrl-C ends it.")
        try await interruption.wait()
        withExtendedLifetime(alerts) { desk.close() }
    }
}

extension Fact {
    fileprivate init(_ alert: BluetoothAlerts.Alert) {
        var fields = ["occasion": "\(alert.occasion)", "app": alert.app, "peer": alert.identifier.uuidString]
        fields["name"] = alert.name
        self.init("alert", fields, text: alert.text.printable)
    }
}
