import ArgumentParser
import BLESession

struct Power: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Switch Bluetooth off or on for all apps that share the daemon's radio.",
        discussion: """
            Without on or off it is said how it is. Off, the daemon lets go of its adapters, apps hear .poweredOff, \
            and it stays off when the daemon is started again. Apps that have ended are not launched for what comes \
            later. Only root and the user of the daemon may switch it.

            Examples:
              ble power
              ble power off
              ble power on --radio hci:0
            """
    )

    @Argument(help: "on or off.") var wish: Wish?
    @Option(help: "Which radio, as “ble power” shows it; all if left out.") var radio: String?
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingTrouble {
            if let wish { _ = try askDaemon(.power(radio: radio, isOn: wish == .on)) }
            guard case .radios(let radios) = try askDaemon(.radios) else { return }
            for one in radios where [one.name, nil].contains(radio) { printer.print(one.fact) }
        }
    }

    /// The requested position of the switch.
    enum Wish: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }
}
