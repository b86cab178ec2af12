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
            The program ends at the end of standard input. The requests, with optional arguments in brackets; PEER is \
            address (six octets, the least significant first) and address_type (0 public, 1 random); octets are \
            strings of hexadecimal digits:
              factory_reset       remove bonds, forget failed pairings, undo
                                  on_pairing, and reset the host: all
                                  connections, advertising and scans end
              read_local_address -> {address, address_type}
              advertise [data, scan_response, legacy, connectable, scannable, target:
                PEER, interval_ms, primary_phy, secondary_phy, own_address_type]
                -> {set}
              stop_advertising {set}
              scan [passive, legacy, interval_ms, window_ms, phys, own_address_type]
              stop_scan
              connect {PEER} [own_address_type] -> {connection}
              disconnect {connection}
              secure {connection, level: 1 to 4} -> {level}
              on_pairing {io_capability: 0 to 4, or a name such as keyboard_only}
              pairing_reply {connection, confirm or passkey}

            Defaults: for advertise, legacy is true and interval_ms 100; for scan, legacy is false (reports all \
            advertisements), interval_ms 40 and window_ms 30; PHYs are 1M. own_address_type is 0 (public), 1 (static) \
            or 2 (resolvable private, the default). on_pairing sets the I/O capability for pairing.

            Unsolicited events are {"event": NAME}: connected {connection, role, PEER}, disconnected {connection, \
            reason}, report (an advertisement), security {connection, level, bonded}, and those described below.

            pairing_reply answers the question {"event": "pairing", "connection": N, "method": METHOD, "value": \
            NUMBER}: confirm answers just_works and numeric_comparison, passkey answers passkey_entry, and \
            passkey_display only shows its value. With "confirm": false and no open question, it cancels the current \
            pairing. If a pairing fails, whichever side started it, the event is {"event": "pairing_failed", \
            "connection": N, "reason": "..."}.

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
