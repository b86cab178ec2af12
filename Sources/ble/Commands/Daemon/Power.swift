import ArgumentParser
import BLESession

struct Power: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "power",
        abstract: "Show or set Bluetooth's power state for all apps that use the daemon.",
        discussion: """
            Without an argument, shows the state. While Bluetooth is off, the daemon does not use its adapters, apps \
            receive .poweredOff, and apps that have ended are not launched again. The setting survives a restart of \
            the daemon. Only root and the daemon's user may change it.

            Examples:
              ble power
              ble power off
              ble power on --radio hci:0
            """
    )

    @Argument(help: "The new state.") var state: SwitchPosition?
    @Option(help: "The radio, as “ble power” prints it (default: all).") var radio: String?
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            if let state { _ = try askDaemon(.power(radio: radio, isOn: state == .on)) }
            guard case .radios(let radios) = try askDaemon(.radios) else { return }
            let shown = radios.filter { [$0.name, nil].contains(radio) }
            if let radio, shown.isEmpty {
                let names = radios.isEmpty ? "" : ", only \(CommandError.list(radios.map(\.name)))"
                throw CommandError.daemonRefused("there is no radio “\(radio)”\(names)")
            }
            for one in shown { printer.print(one.fact) }
        }
    }

    /// The position of the Bluetooth switch that the user requests.
    enum SwitchPosition: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }
}
