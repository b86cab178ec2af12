import ArgumentParser
import BLEHost
import BLERuntime
import BLEWire
import Dispatch
import Foundation

/// The command `host`, which runs the host on one controller, driven by JSON lines.
struct HostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Run the host on a controller, for test suites that drive hosts.",
        discussion: """
            Standard input takes requests, such as {"id": 1, "op": "connect", "address": "665544332211", \
            "address_type": 0}; each is answered by {"id": 1, "result": {...}} or {"id": 1, "error": "..."}. \
            Unsolicited events are {"event": ...}. The program ends at the end of standard input.

            factory_reset removes bonds and failed pairings. pairing_reply answers a question ({"event": "pairing"}); \
            with "confirm": false and no open question, it cancels the current pairing. A failed pairing, started by \
            either side, is {"event": "pairing_failed", "connection": N, "reason": "..."}.

            Requests about the peer's attributes, for connections that either side made:
              discover {connection} -> {services: [{uuid, start, end,
                characteristics: [{uuid, handle, properties, end,
                  descriptors: [{uuid, handle}]}]}]}
              read {connection, handle} -> {value}
              write {connection, handle, value, response: true (default) or false}
              subscribe {connection, handle, end: the characteristic's last handle
                (default: 65535), kind: "notify" (default), "indicate" or "none"}
            A received value is {"event": "notified", "connection": N, "handle": N, "value": HEX}. If the peer refuses \
            a request, the error begins with the code: "ATT 0x02: Read Not Permitted".
            """
    )

    @Option(help: "The controller: \(HostSpecification.controllerForms).")
    var controller: String

    func run() throws {
        let problem = "--controller “\(controller)” is not a controller", advice = HostSpecification.controllerForms
        let specification: HostSpecification
        do throws(HostSpecification.Malformed) {
            specification = try HostSpecification(controller)
        } catch {
            throw InvalidInput("\(problem) (\(error.reason)); use \(advice)")
        }
        guard let transport = specification.transport else { throw InvalidInput("\(problem); use \(advice)") }
        let driver = HostDriver(on: HostCommand.runner(on: transport)) { JSONLine.print($0) }
        driver.start()
        var lines = LineBuffer()
        while let octets = try Self.readInput() {
            for line in lines.append(octets) { driver.receive(line) }
        }
        driver.stop()
    }

    /// Creates a host with privacy enabled, which stores nothing.
    static func runner(on transport: any Transport) -> HostRunner {
        var configuration = Host.Configuration(
            name: "BLEConformance",
            identifierSecret: .random(in: .min ... .max),
            isPrivate: true
        )
        // Pairing requests are always accepted, because there are no apps that could ask for a pairing.
        configuration.pairing.unattended = .always
        let host = Host(configuration: configuration, random: SystemRandomNumberGenerator())
        return HostRunner(host, transport: transport)
    }

    /// Returns the next octets of standard input; `nil` at the end.
    private static func readInput() throws -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &octets, octets.count)
            if count > 0 { return Array(octets.prefix(count)) }
            if count == 0 { return nil }
            guard errno == EINTR else {
                throw InvalidInput("cannot read standard input: \(String(cString: strerror(errno)))")
            }
        }
    }
}
