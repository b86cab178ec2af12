import ArgumentParser
import CoreBluetooth

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect to a peripheral and show its attribute tree.",
        discussion: """
            Values that can be read are read, unless --no-values says otherwise.

            Examples:
              ble inspect Lamp
              ble inspect 1B9D6BCD-BBFD-8B2D-9B5D-AB8DFBBD4BED --json
            """
    )

    @OptionGroup var peer: PeerOptions
    @OptionGroup var output: OutputOptions

    @Flag(inversion: .prefixedNo, help: "Read the values that can be read.")
    var values = true

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await withPeripheral(peer, printer) { central, peripheral in
            try await central.discover(peripheral, descriptors: true)
            let tree = AttributeTree(printer: printer, readsValues: values)
            try await tree.print(peripheral, through: central)
        }
    }
}
