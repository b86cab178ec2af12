import ArgumentParser
import CoreBluetooth

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Connect to a peripheral and show its attribute tree.",
        discussion: """
            Also shows the values that can be read, unless --no-values is given. Included services follow the services \
            that include them. The exit status is 69 if the radio is lost, even with --follow, 75 if the connection \
            times out, and 1 if the peripheral disconnects.

            Examples:
              ble inspect Lamp
              ble inspect Lamp --follow
              ble inspect 44BEFCB7-9354-84A5-B59A-2EC001542FD0 --json
            """
    )

    @OptionGroup var peer: PeerOptions
    @OptionGroup var pairing: PeripheralPairingOptions
    @OptionGroup var output: OutputOptions

    @Flag(inversion: .prefixedNo, help: "Read all readable values.")
    var values = true

    @Flag(help: "Stay connected until interrupted, and show the tree again whenever the services change.")
    var follow = false

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await withPeripheral(peer, printer, pairing: pairing) { central, peripheral in
            var isStale = false
            central.onDelegateCall = { if case .servicesModified(peripheral) = $0 { isStale = true } }
            let interruption = follow ? Interruption.task(endingStepsOf: central) : nil
            defer { interruption?.cancel() }
            repeat {
                isStale = false
                let services = try await central.discover(
                    peripheral,
                    descriptors: true,
                    incomplete: { printer.remark("\($0)") }
                )
                let tree = AttributeTree(printer: printer, readsValues: values)
                try await tree.print(services, of: peripheral, through: central)
                if follow, !isStale, !central.isInterrupted { try await waitForChange(of: peripheral, central) }
            } while follow && isStale && !central.isInterrupted
        }
    }

    /// Waits until the services change or the user interrupts.
    @MainActor
    private func waitForChange(of peripheral: CBPeripheral, _ central: Central) async throws {
        try await central.wait(for: "Waiting for a change of the services", needing: .connection(peripheral)) {
            switch $0 {
            case .servicesModified(peripheral), .interrupted: .success(())
            default: nil
            }
        }
    }
}
