import ArgumentParser
import CoreBluetooth

struct Write: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a characteristic of a peripheral.",
        discussion: """
            With --without-response, the peripheral does not confirm the write. The command still waits until the \
            peripheral has received the packet, and refuses a value that does not fit into one packet. The exit status \
            is 69 if the radio is lost.

            Examples:
              ble write Lamp 6C616D70-0000-4C69-6768-740000000002 01
              ble write Lamp 6C616D70-0000-4C69-6768-740000000003 "Bedside" --text
              ble write Lamp 6C616D70-0000-4C69-6768-740000000002 01 --without-response
            """
    )

    @OptionGroup var peer: PeerOptions
    @Argument(help: CharacteristicReference.help)
    var characteristic: CharacteristicReference
    @Argument(help: "The value: pairs of hexadecimal digits, or text with --text.")
    var value: String
    @Flag(help: "The value is text, sent as UTF-8.")
    var text = false
    @Flag(help: "Write without response: don't ask for confirmation.")
    var withoutResponse = false
    @OptionGroup var pairing: PeripheralPairingOptions
    @OptionGroup var output: OutputOptions

    private var octets: Data { get throws { text ? Data(value.utf8) : try Octets.parseDigits(value) } }

    func validate() throws { _ = try octets }

    @MainActor
    func run() async throws {
        let octets = try octets
        let printer = Printer(output)
        try await withPeripheral(peer, printer, pairing: pairing) { central, peripheral in
            let found = try await central.characteristics([characteristic], of: peripheral)[0]
            if withoutResponse {
                try await central.writeCommand(octets, to: found, of: peripheral)
            } else {
                try await central.write(octets, to: found, of: peripheral)
            }
            printer.print(found.fact("wrote", octets))
        }
    }
}
