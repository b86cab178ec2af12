import ArgumentParser
import BLERuntime
import CoreBluetooth

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the values that a characteristic notifies or indicates.",
        discussion: """
            If the radio is lost, the exit status is 69; if the peripheral disconnects, it is 1.

            Examples:
              ble notify Heart 2A37
              ble notify Heart 2A37 --count 3 --json
            """
    )

    @OptionGroup var peer: PeerOptions
    @Argument(help: "The characteristic's UUID: 4, 8 or 36 characters.")
    var characteristic: UUIDArgument
    @Option(
        help: "How many values to wait for; until interrupted if left out.",
        transform: Bounds(1...Int.max).read
    )
    var count: Int?
    @Option(
        help: ArgumentHelp("How long to wait for them; however long if left out.", valueName: "seconds"),
        transform: Bounds.seconds().duration
    )
    var duration: Duration?
    @OptionGroup var pairing: PeripheralPairingOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await withPeripheral(peer, printer, pairing: pairing) { central, peripheral in
            let found = try await central.characteristic(characteristic.uuid, of: peripheral)
            let interruption = Interruption.task(endingStepsOf: central, atMost: duration)
            defer { interruption.cancel() }
            try await central.setNotify(true, for: found, of: peripheral)
            printer.print(
                Fact("subscribed", ["characteristic": found.uuid.uuidString], text: "Subscribed; Ctrl-C ends it.")
            )
            if !central.isInterrupted { try await receive(from: found, of: peripheral, through: central, printer) }
            try await central.setNotify(false, for: found, of: peripheral)
        }
    }

    @MainActor
    private func receive(
        from characteristic: CBCharacteristic,
        of peripheral: CBPeripheral,
        through central: Central,
        _ printer: Printer
    ) async throws {
        var seen = 0
        try await central.wait(for: "Receiving values", needing: .connection(peripheral)) { happening in
            switch happening {
            case .valueUpdated(characteristic, nil):
                seen += 1
                printer.print(characteristic.fact("received", characteristic.value ?? Data()))
                return seen == count ? .success(()) : nil
            case .interrupted: return .success(())
            default: return nil
            }
        }
        if let count, seen < count, let duration {
            throw Trouble.noAnswer(to: "Receiving \(count) values", within: duration)
        }
    }
}
