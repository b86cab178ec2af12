import ArgumentParser
import BLERuntime
import BLESimulation
import Dispatch
import Foundation

/// `controller`: virtual controllers on one radio, each on a TCP port.
struct ControllerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controller",
        abstract: "Serves virtual controllers on 127.0.0.1, one at each port, all on one radio, until it is ended.",
        discussion: """
            Each speaks HCI over H4. A new connection switches its controller off and on, and closes the connection \
            before.
            """
    )

    @Option(
        name: .long,
        parsing: .singleValue,
        help: "A port to serve a controller at, of the system's choice if 0; may be given several times.",
        transform: Bounds(0...UInt16.max).read
    )
    var port: [UInt16] = []

    func validate() throws {
        guard !port.isEmpty else { throw ValidationError("at least one --port is needed") }
        guard Set(port).count == port.count else { throw ValidationError("a port serves one controller only") }
    }

    func run() throws {
        let radio = try serve()
        JSONLine.print(["ready": true])
        withExtendedLifetime(radio) { dispatchMain() }
    }

    /// Starts listening on every port.
    func serve() throws -> RadioServer {
        let radio = RadioServer(seed: 1, newcomers: .replace)
        do {
            for port in port { try radio.listen(at: .tcp(host: "127.0.0.1", port: port)) }
        } catch {
            try? StandardStream.error.write(line: "BLEConformance: \(error)")
            throw ExitCode(2)
        }
        return radio
    }
}
