import ArgumentParser
import BLERuntime
import BLESimulation

struct Radio: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve virtual controllers over TCP, all on one air.",
        discussion: """
            Each port is a controller that speaks HCI over H4, on 127.0.0.1. A new connection is a power cycle.

            Examples:
              ble radio --port 7001 --port 7002
              BLUETOOTH_HOST=tcp:127.0.0.1:7001 ble serve lamp.json
              BLUETOOTH_HOST=tcp:127.0.0.1:7002 ble inspect Lamp
            """
    )

    @Option(name: .customLong("port"), help: "A port to serve a controller on; give one for each controller.")
    var ports: [UInt16]

    @Option(help: "What every random choice follows from.")
    var seed: UInt64 = 1

    @Option(help: "The share of packets that the radio loses, 0 to 0.9.")
    var loss = 0.0

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !ports.isEmpty else { throw ValidationError("Name at least one --port.") }
        guard Set(ports).count == ports.count else { throw ValidationError("Each --port may be named once.") }
        guard 0...0.9 ~= loss else { throw ValidationError("--loss takes a share from 0 to 0.9.") }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await reportingTrouble { try await serve(printer) }
    }

    @MainActor
    private func serve(_ printer: Printer) async throws {
        let server = RadioServer(seed: seed, loss: loss)
        for port in ports {
            do {
                try server.listen(at: .tcp(host: "127.0.0.1", port: port))
            } catch {
                throw Trouble.unusablePort(port, "\(error)")
            }
        }
        let list = ports.map { "127.0.0.1:\($0)" }.joined(separator: ", ")
        printer.print(
            Fact("listening", ["ports": ports.map(Int.init)], text: "Controllers listen on \(list); Ctrl-C ends them.")
        )
        try await Interruption.wait()
        server.stop()
    }
}
