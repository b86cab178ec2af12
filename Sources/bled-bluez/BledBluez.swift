import ArgumentParser
import BLEBlueZ
import BLERuntime
import BLESession
import BLEWire
import DBus
import Dispatch
import Glibc

/// The program `bled-bluez`: it serves BlueZ's D-Bus API on top of the daemon, for programs written for `bluetoothd`.
@main
struct BledBluez: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bled-bluez",
        abstract: "Serve BlueZ's D-Bus API on top of bled.",
        discussion: """
            Programs that use BlueZ through D-Bus, such as bluetoothctl and programs written with bleak, run \
            unchanged. Each may do what the policy of bled allows its user and program. BR/EDR, and with it audio, \
            is not supported.

            Run it as root or as the user that bled runs as: bled lets only these open sessions for other programs. \
            Only one program on a bus can own the name org.bluez; stop bluetooth.service first.

            Examples:
              bled-bluez
              bled-bluez --bus unix:path=/tmp/bus --socket /tmp/lab/bled

            Exit status: 64 wrong usage, 69 no bus or daemon (or it was lost), no such radio, or another owner of the \
            name, 77 not allowed on the bus.
            """,
        version: "0.1.0"
    )

    @Option(help: "The D-Bus address (default: DBUS_SYSTEM_BUS_ADDRESS, or the system bus).")
    var bus: String?

    @Option(help: "The socket of bled (default: the user's daemon if one is running, otherwise the system's).")
    var socket: String?

    @Option(help: "The radio of bled (default: the first one).")
    var radio: String?

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as CommandFailure {
            try? StandardStream.error.write(line: failure.description)
            Glibc.exit(failure.status)
        } catch {
            exit(withError: error)
        }
    }

    func run() throws {
        let places = try busPlaces(), daemon = try daemonPath()
        let facts = try radios(of: daemon)
        guard let fact = facts.first(where: { radio == nil || $0.name == radio }) else {
            let names = facts.map(\.name).joined(separator: ", ")
            throw CommandFailure("The daemon has no radio “\(radio ?? "")”, only \(names).", 69)
        }
        let failures = Failures()
        let service = BlueZService(
            on: try connect(to: places),
            daemon: daemon,
            radio: radio ?? "",
            adapter: AdapterIdentity(radio: fact.name).adapter
        ) {
            try? StandardStream.output.write(
                line: "BlueZ programs can now use \(fact.name) on the bus; Ctrl-C stops the service."
            )
            ServiceNotification.send("READY=1")
        } ended: { failure in
            failures.add(failure)
        }
        service.start()
        let failure = failures.wait()
        withExtendedLifetime(service) {}
        throw failure
    }

    private func connect(to places: [SocketAddress]) throws -> FileDescriptor {
        var failure = CommandFailure("No D-Bus address is known. Name one with --bus.", 69)
        for place in places {
            do throws(TransportError) {
                return try place.connect()
            } catch {
                failure = CommandFailure("\(error.sentence) Start D-Bus, or name another bus with --bus.", 69)
            }
        }
        throw failure
    }

    private func busPlaces() throws -> [SocketAddress] {
        let variable = "DBUS_SYSTEM_BUS_ADDRESS"
        let text = bus ?? Self.environment(variable) ?? "unix:path=/run/dbus/system_bus_socket"
        do {
            return try BusAddress.places(in: text)
        } catch {
            throw CommandFailure("Invalid \(bus == nil ? variable : "--bus"): \(error).", 64)
        }
    }

    private func daemonPath() throws -> String {
        if let socket { return socket.hasPrefix("/") ? socket : SystemFile.workingDirectory + "/" + socket }
        let candidates = DaemonSocket.candidates(environment: Self.environment)
        guard let path = DaemonSocket.listening(among: candidates) ?? candidates.first(where: DaemonSocket.isSocket)
        else {
            throw CommandFailure("No daemon found. Start bled, or name its socket with --socket.", 69)
        }
        return path
    }

    private func radios(of daemon: String) throws -> [RadioInfo] {
        let answer: Answer
        do throws(TransportError) {
            answer = try DaemonQuery(at: daemon).ask(.radios)
        } catch {
            let cure = error.cure ?? "Start the daemon with “bled”, or name its socket with --socket."
            throw CommandFailure("\(error.sentence) \(cure)", 69)
        }
        guard case .radios(let radios) = answer, !radios.isEmpty else {
            throw CommandFailure("The daemon at \(daemon) has no radio. Restart it with one, as in “bled hci:0”.", 69)
        }
        return radios
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The first failure of the service, which the main thread waits for.
private final class Failures: Sendable {
    private let signal = DispatchSemaphore(value: 0)
    private let first = Locked<CommandFailure?>(nil)

    func add(_ failure: CommandFailure) {
        first.withLock { $0 = $0 ?? failure }
        signal.signal()
    }

    func wait() -> CommandFailure {
        signal.wait()
        return first.withLock { $0 } ?? CommandFailure("The service has ended.", 69)
    }
}
