import ArgumentParser
import BLERuntime
import CoreBluetooth

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Print the values that characteristics notify or indicate.",
        discussion: """
            With several characteristics, each value is preceded by the UUID of its characteristic, and --count counts \
            the values of all of them. The exit status is 69 if the radio is lost, 75 if the connection times \
            out, and 1 if the peripheral disconnects.

            Examples:
              ble notify Heart 2A37
              ble notify Heart 2A37 --count 3 --json
              ble notify Heart 2A37 2A19 --timestamps --duration 5
              ble notify Heart 180D/2A37 --count 1   the one in service 180D
              ble notify Heart 2A37#1 --count 1      the first that “ble inspect” shows
            """
    )

    @OptionGroup var peer: PeerOptions
    @Argument(help: CharacteristicReference.help)
    var characteristics: [CharacteristicReference]
    @Option(
        help: "Stop after this many values (default: run until interrupted).",
        transform: Bounds(1...Int.max).read
    )
    var count: Int?
    @Option(
        help: ArgumentHelp(
            "Stop after this time (default: no limit). If --count has not been reached, the exit status is 75.",
            valueName: "seconds"
        ),
        transform: Bounds.seconds().duration
    )
    var duration: Duration?
    @OptionGroup var pairing: PeripheralPairingOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await withPeripheral(peer, printer, pairing: pairing) { central, peripheral in
            let found = try await central.characteristics(characteristics, of: peripheral)
            let interruption = Interruption.task(endingStepsOf: central, atMost: duration)
            defer { interruption.cancel() }
            let listening = Listening(to: found, of: peripheral, count: count, printer)
            let seen = try await listening.run(through: central)
            if let count, seen < count, let duration, try await interruption.value == .timeLimit {
                throw CommandError.noAnswer(to: "Waiting for \(count.withNoun("value"))", within: duration)
            }
        }
    }
}
