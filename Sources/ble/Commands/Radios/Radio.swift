import ArgumentParser
import BLERuntime
import BLESimulation

struct Radio: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "radio",
        abstract: "Serve virtual controllers over TCP, all on one simulated radio channel.",
        discussion: """
            Each port is a controller that speaks HCI over H4, on 127.0.0.1. A new connection power-cycles the \
            controller. A port serves one program at a time: a second connection is refused if the first does not \
            end within 100 ms, and “ble radio” reports this. On a --shared-port, every connection gets its own \
            controller.

            Unless --seed is given, the controllers have different addresses in each run. Even with --seed, bonds \
            that apps of this library make on these controllers are valid only until this command ends.

            Examples:
              ble radio --port 7001 --port 7002
              ble radio --shared-port 7001
              BLUETOOTH_HOST=tcp:127.0.0.1:7001 ble serve lamp.json
              BLUETOOTH_HOST=tcp:127.0.0.1:7002 ble inspect Lamp
            """
    )

    @Option(
        name: .customLong("port"),
        help: "TCP port of a controller. Repeatable.",
        transform: Bounds(1...UInt16.max).read
    )
    var ports: [UInt16] = []

    @Option(
        help: ArgumentHelp("TCP port on which every connection gets its own controller.", valueName: "port"),
        transform: Bounds(1...UInt16.max).read
    )
    var sharedPort: UInt16?

    @Flag(help: "Deliver data immediately instead of at connection intervals, to measure hosts.")
    var unpaced = false

    @Option(
        help: "Random seed, also for addresses (default: different in each run).",
        transform: Bounds(0...UInt64.max).read
    )
    var seed: UInt64?

    @Option(
        help: "Fraction of packets that the radio loses, 0 to 0.9 (default: 0).",
        transform: Bounds(0...0.9).read
    )
    var loss = 0.0

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let all = ports + (sharedPort.map { [$0] } ?? [])
        guard !all.isEmpty else { throw ValidationError("Name at least one --port, or a --shared-port.") }
        guard Set(all).count == all.count else { throw ValidationError("Name each port only once.") }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors { try await serve(printer) }
    }

    @MainActor
    private func serve(_ printer: Printer) async throws {
        let refused = { @Sendable (port: UInt16) in
            _ = Task { @MainActor in
                let reason = "another program is connected to it"
                printer.print(Fact("refused", ["port": Int(port), "reason": reason], text: ""))
                printer.remark("A connection to port \(port) was refused: \(reason).")
            }
        }
        let server = RadioServer(
            seed: seed ?? .random(in: .min ... .max),
            loss: loss,
            pace: RadioPace(skipsIdleTime: unpaced),
            refused: refused
        )
        for port in ports { try listen(at: port) { address throws(TransportError) in try server.listen(at: address) } }
        if let sharedPort {
            try listen(at: sharedPort) { address throws(TransportError) in try server.share(address) }
        }
        let interruption = Interruption(), all = ports + (sharedPort.map { [$0] } ?? [])
        let list = all.map { "127.0.0.1:\($0)" }.joined(separator: ", ")
        printer.print(
            Fact("listening", ["ports": all.map(Int.init)], text: "Listening on \(list); press Ctrl-C to stop.")
        )
        try await interruption.wait()
        server.stop()
    }

    /// Listens on a TCP port of this machine, or throws an error that says why it cannot.
    private func listen(
        at port: UInt16,
        _ listen: (SocketAddress) throws(TransportError) -> UInt16
    ) throws {
        do throws(TransportError) {
            _ = try listen(.tcp(host: "127.0.0.1", port: port))
        } catch {
            throw CommandError.unusablePort(port, error.reason)
        }
    }
}
