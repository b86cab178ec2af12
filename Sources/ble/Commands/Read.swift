import ArgumentParser
import CoreBluetooth

struct Read: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read a characteristic of a peripheral.",
        discussion: """
            Examples:
              ble read Lamp 2A00
              ble read Lamp 5C0B0001-1111-2222-3333-444455556666 --json
            """
    )

    @OptionGroup var peer: PeerOptions
    @Argument(help: "The characteristic's UUID: 4, 8 or 36 characters.")
    var characteristic: UUIDArgument
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await withPeripheral(peer, printer) { central, peripheral in
            let found = try await central.characteristic(characteristic.uuid, of: peripheral)
            let value = try await central.read(found, of: peripheral)
            printer.print(found.fact("read", value))
        }
    }
}

extension CBCharacteristic {
    /// A value of this characteristic as a fact.
    func fact(_ event: String, _ value: Data) -> Fact {
        var fields: [String: Any] = ["characteristic": uuid.uuidString, "value": value.hexadecimal]
        fields["text"] = value.text
        return Fact(event, fields, text: value.shown)
    }
}
