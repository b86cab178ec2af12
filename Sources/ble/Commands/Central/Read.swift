import ArgumentParser
import BLERuntime
import CoreBluetooth

struct Read: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read characteristics of a peripheral, once or repeatedly.",
        discussion: """
            Several characteristics are requested together, and their values are printed in the order given. If one \
            read fails, the others continue, and the exit status is 1. It is 69 if the radio is lost, 75 if the \
            connection times out, and 1 if the peripheral disconnects.

            Examples:
              ble read Lamp 2A29
              ble read Lamp 6C616D70-0000-4C69-6768-740000000002 --json
              ble read Heart 2A29 2A19 --every 1 --count 3 --json
              ble read Heart 2A19 --every 60                 until interrupted
              ble read Lamp 180A/2A29 --timestamps
            """
    )

    @OptionGroup var peer: PeerOptions
    @Argument(help: CharacteristicReference.help)
    var characteristics: [CharacteristicReference]
    @Option(
        help: "Number of times to read each characteristic (default: 1; with --every, until interrupted).",
        transform: Bounds(1...Int.max).read
    )
    var count: Int?
    @Option(
        help: ArgumentHelp("Interval between reads (default: 1).", valueName: "seconds"),
        transform: Bounds.seconds().duration
    )
    var every: Duration?
    @OptionGroup var pairing: PeripheralPairingOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await withPeripheral(peer, printer, pairing: pairing) { central, peripheral in
            let found = try await central.characteristics(characteristics, of: peripheral)
            let interruption = Interruption.task(endingStepsOf: central)
            defer { interruption.cancel() }
            let polling = Polling(times: times, interval: every ?? .seconds(1), printer)
            try await polling.read(found, of: peripheral, through: central)
        }
    }

    /// The number of times that each characteristic is read; `nil` for no limit.
    private var times: Int? { count ?? (every == nil ? 1 : nil) }
}

extension CBCharacteristic {
    /// Returns the output for a value of this characteristic; `event` is the value of `"event"` in JSON.
    ///
    /// If `isNamed`, the text for users begins with the characteristic's reference.
    func fact(_ event: String, _ value: Data, isNamed: Bool = false) -> Fact {
        let fields = keys.merging(keys(of: value)) { own, _ in own }
        return Fact(event, fields, text: (isNamed ? "\(argument) " : "") + value.shown(as: ValueFormat(of: self)))
    }
}
