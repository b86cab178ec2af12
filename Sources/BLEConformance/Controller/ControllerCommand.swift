import ArgumentParser
import BLERuntime
import BLESimulation
import Dispatch
import Foundation

/// The command `controller`, which serves virtual controllers on one radio, each on a TCP port.
struct ControllerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controller",
        abstract: "Serve virtual controllers on 127.0.0.1, one on each port, all on one radio, until interrupted.",
        discussion: """
            Each controller speaks HCI over H4. A new connection closes the previous one and power-cycles the \
            controller.
            """
    )

    @Option(
        name: .long,
        parsing: .singleValue,
        help: "TCP port of a controller. Repeatable.",
        transform: Bounds(0...UInt16.max).read
    )
    var port: [UInt16] = []

    func validate() throws {
        guard !port.isEmpty else { throw ValidationError("Name at least one --port.") }
        guard Set(port).count == port.count else { throw ValidationError("Name each port only once.") }
    }

    func run() throws {
        let radio = try serve()
        JSONLine.print(["ready": true])
        withExtendedLifetime(radio) { dispatchMain() }
    }

    /// Starts listening on every port.
    func serve() throws -> RadioServer {
        let radio = RadioServer(seed: 1, extraConnections: .replace)
        do {
            for port in port { try radio.listen(at: .tcp(host: "127.0.0.1", port: port)) }
        } catch {
            try? StandardStream.error.write(line: "BLEConformance: \(error)")
            throw ExitCode(2)
        }
        return radio
    }
}
