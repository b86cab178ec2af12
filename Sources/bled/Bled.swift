import ArgumentParser
import BLEDaemon
import BLERuntime
import Glibc

/// The daemon: it owns the radios and shares them among apps.
@main
struct Bled: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bled",
        abstract: "Share Bluetooth radios among all apps of this computer.",
        discussion: """
            Apps that use Core Bluetooth find the daemon by themselves and need no rights. They share its scans, links \
            and advertisements, and each hears what is its own. Only the daemon needs what the radio needs: for hci:N, \
            the capability CAP_NET_ADMIN.

            Radios are hci:N, hci:ADDRESS, serial:PATH@RATE, tcp:HOST:PORT, unix:PATH, world:FILE.json and demo. Apps \
            have the first one, unless they name another: BLUETOOTH_HOST=bled:/run/bled/socket#hci:1.

            Examples:
              bled demo                                     a simulated world for all apps
              bled hci:0                                    the first adapter
              bled --socket /tmp/lab/bled tcp:127.0.0.1:7001
              BLUETOOTH_HOST=bled:/tmp/lab/bled ble scan    an app that is told where

            Exit status: 0 ended by a signal, 64 wrong usage, 66 a file cannot be used, 69 the socket cannot be used, \
            71 too few descriptors.
            """,
        version: "0.1.0"
    )

    @Argument(help: "The radios; the first adapter of this machine if left out.", transform: HostSpecification.init)
    var radios: [HostSpecification] = []

    @Option(
        help: """
            Where to listen: /run/bled/socket for root, else bled/socket in XDG_RUNTIME_DIR. The directory is made if it
            is missing, and decides who may connect.
            """
    )
    var socket: String?

    @Option(
        help: """
            Where sessions of apps are kept that are to be restored: /var/lib/bled/sessions for root, else
            bled/sessions in XDG_STATE_HOME or ~/.local/state.
            """
    )
    var sessions: String?

    @Option(
        help: """
            Which apps may do what: /etc/bled/policy.json for root, else bled/policy.json in XDG_CONFIG_HOME or
            ~/.config, if it is there. SIGHUP has it read again.
            """
    )
    var policy: String?

    func validate() throws {
        guard Set(radios.map { "\($0)" }).count == radios.count else {
            throw ValidationError("Each radio may be named once.")
        }
        if radios.contains(where: \.isDaemon) { throw ValidationError("A daemon is no radio for another one.") }
    }

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
        let signals = ControlSignals(), given = ServiceActivation.takeSocket()
        if let problem = DescriptorLimit.raise(to: DescriptorLimit.ofDaemon) { throw CommandFailure(problem, 71) }
        let path = Self.absolute(try socket ?? Self.standardPlace()), kept = try sessions ?? Self.standardFile()
        let radios = try openRadios(), file = KeptFile(path: kept)
        let rules = PolicyFile(path: try policy ?? Self.standardPolicy(), isNeeded: policy != nil)
        let launcher = AppLauncher(telling: SocketDirectory.launches(besides: path), at: path)
        let daemon = Daemon(
            radios,
            under: try read(rules),
            keeping: file,
            switches: kept + ".off",
            launcher: launcher
        )
        var place: TrustedPath?
        do throws(TransportError) {
            if let given { daemon.listen(adopting: given) } else { place = try daemon.listen(at: path) }
        } catch {
            let cure = error.cure ?? "Use another --socket."
            throw CommandFailure("Apps cannot be listened to at \(path): \(error). \(cure)", 69)
        }
        try StandardStream.output.write(line: "Apps find \(radios) at \(path); Ctrl-C ends them.")
        ServiceActivation.tell("READY=1")
        while signals.wait() == .reload { reload(rules, daemon) }
        ServiceActivation.tell("STOPPING=1")
        daemon.stop()
        file.flush()
        place?.remove()
    }

    private func read(_ rules: PolicyFile) throws -> AppPolicy {
        do throws(PolicyFile.Problem) {
            return try rules.read()
        } catch {
            throw CommandFailure("The policy cannot be used. \(error).", 66)
        }
    }

    /// Reads the policy again.
    ///
    /// An invalid one changes nothing.
    private func reload(_ rules: PolicyFile, _ daemon: Daemon) {
        do throws(PolicyFile.Problem) {
            daemon.obey(try rules.read())
            try? StandardStream.output.write(line: "The policy has been read again.")
        } catch {
            try? StandardStream.error.write(line: "The policy cannot be used, and the one before counts. \(error).")
        }
    }

    private func openRadios() throws -> Radios {
        var wanted = radios
        if wanted.isEmpty {
            do throws(TransportError) {
                wanted = [.adapter(try AdapterReference.firstUsable(in: LinuxKernel()))]
            } catch {
                let cure = error.cure ?? "Name one, such as “bled demo”."
                throw CommandFailure("There is no radio: \(error). \(cure)", 69)
            }
        }
        do { return try Radios(opening: wanted) } catch { throw CommandFailure("\(error)", 66) }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : SystemFile.workingDirectory + "/" + path
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns a file in the directory that the service manager names, otherwise in root's directory; `nil` for other
    /// users.
    private static func file(_ name: String, in variable: String, orFor system: String) -> String? {
        if let directory = environment(variable) { return directory + "/" + name }
        return geteuid() == 0 ? system + "/" + name : nil
    }

    private static func standardPolicy() throws -> String {
        if let path = file("policy.json", in: "CONFIGURATION_DIRECTORY", orFor: "/etc/bled") { return path }
        return try ownDirectory("XDG_CONFIG_HOME", ".config", for: "the policy", "--policy") + "/bled/policy.json"
    }

    private static func standardFile() throws -> String {
        if let path = file("sessions", in: "STATE_DIRECTORY", orFor: "/var/lib/bled") { return path }
        return try ownDirectory("XDG_STATE_HOME", ".local/state", for: "sessions", "--sessions") + "/bled/sessions"
    }

    /// A directory of the user's, which the environment names.
    private static func ownDirectory(
        _ variable: String,
        _ name: String,
        for content: String,
        _ option: String
    ) throws -> String {
        if let directory = environment(variable), directory.hasPrefix("/") { return directory }
        if let home = environment("HOME"), home.hasPrefix("/") { return "\(home)/\(name)" }
        let cure = "Set HOME, or name the file with \(option)."
        throw CommandFailure("Neither \(variable) nor HOME names a directory for \(content). \(cure)", 64)
    }

    private static func standardPlace() throws -> String {
        if let path = file("socket", in: "RUNTIME_DIRECTORY", orFor: "/run/bled") { return path }
        guard let place = DaemonSocket.ofUser(environment: environment) else {
            let sentence = "XDG_RUNTIME_DIR names no directory for the socket. Say where it is to be with --socket."
            throw CommandFailure(sentence, 64)
        }
        return place
    }
}
