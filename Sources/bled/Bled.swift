import ArgumentParser
import BLEDaemon
import BLERuntime
import Glibc

/// The program `bled`: a daemon that owns the radios and shares them among apps.
@main
struct Bled: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bled",
        abstract: "Share Bluetooth radios among all apps on this machine.",
        discussion: """
            Apps that use Core Bluetooth find the daemon automatically and need no privileges. They share its scans, \
            links and advertisements, and each receives only its own events. Only the daemon needs access to the \
            radio: for hci:N, the capability CAP_NET_ADMIN.

            Radios are hci:N, hci:ADDRESS, hci:first, serial:PATH@RATE, tcp:HOST:PORT, unix:PATH, world:FILE.json and \
            demo. Apps use the first one unless they name another: BLUETOOTH_HOST=bled:/run/bled/socket#hci:1.

            Examples:
              bled demo                                     a simulated world for all apps
              bled hci:0                                    the first adapter
              bled --socket /tmp/lab/bled tcp:127.0.0.1:7001
              BLUETOOTH_HOST=bled:/tmp/lab/bled ble scan    run an app with that socket

            Exit status: 0 ended by a signal, 64 wrong usage, 66 a file cannot be used, 69 the socket cannot be \
            used, 71 too few file descriptors.
            """,
        version: "0.1.0"
    )

    @Argument(
        help: "The radios (default: the first usable adapter, or hci:first while none is).",
        transform: HostSpecification.init
    )
    var radios: [HostSpecification] = []

    @Option(
        help: """
            The socket to listen on (default: /run/bled/socket for root, otherwise bled/socket in XDG_RUNTIME_DIR). \
            Creates its directory if necessary. The directory's permissions decide who may connect.
            """
    )
    var socket: String?

    @Option(
        help: """
            The file for sessions of apps with state restoration (default: /var/lib/bled/sessions for root, otherwise \
            bled/sessions in XDG_STATE_HOME or ~/.local/state).
            """
    )
    var sessions: String?

    @Option(
        help: """
            The policy file, which says what each app may do (default: /etc/bled/policy.json for root, otherwise \
            bled/policy.json in XDG_CONFIG_HOME or ~/.config, if it exists). SIGHUP reloads it.
            """
    )
    var policy: String?

    func validate() throws {
        guard Set(radios.map { "\($0)" }).count == radios.count else {
            throw ValidationError("Name each radio only once.")
        }
        if radios.contains(where: \.isDaemon) { throw ValidationError("A daemon cannot use another daemon's radio.") }
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
            throw CommandFailure("\(error.sentence) \(cure)", 69)
        }
        try StandardStream.output.write(line: "Serving \(radios) at \(path); Ctrl-C stops the daemon.")
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
            throw CommandFailure("Invalid policy. \(error).", 66)
        }
    }

    /// Reads the policy again.
    ///
    /// An invalid policy is reported and changes nothing.
    private func reload(_ rules: PolicyFile, _ daemon: Daemon) {
        do throws(PolicyFile.Problem) {
            daemon.apply(try rules.read())
            try? StandardStream.output.write(line: "Reloaded the policy.")
        } catch {
            try? StandardStream.error.write(line: "Invalid policy; keeping the previous one. \(error).")
        }
    }

    private func openRadios() throws -> Radios {
        var wanted = radios
        // An adapter may become usable later. Until then, the host logs why none is.
        if wanted.isEmpty { wanted = [.adapter((try? .firstUsable(in: LinuxKernel())) ?? .first)] }
        do { return try Radios(opening: wanted) } catch { throw CommandFailure("\(error)", 66) }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : SystemFile.workingDirectory + "/" + path
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns the path of a file in the directory that the service manager has set in the environment variable
    /// `variable`.
    ///
    /// If the variable is not set, returns the path in the directory `system` for root, and `nil` for other users.
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

    /// Returns the directory that the environment variable `variable` names; without it, `name` in the home directory.
    ///
    /// - Throws: An error about `content`, with the advice to use `option`, if there is no home directory either.
    private static func ownDirectory(
        _ variable: String,
        _ name: String,
        for content: String,
        _ option: String
    ) throws -> String {
        if let directory = environment(variable), directory.hasPrefix("/") { return directory }
        if let home = environment("HOME"), home.hasPrefix("/") { return "\(home)/\(name)" }
        let cure = "Set HOME, or name the file with \(option)."
        let sentence = "No directory for \(content): neither \(variable) nor HOME is set to an absolute path."
        throw CommandFailure("\(sentence) \(cure)", 64)
    }

    private static func standardPlace() throws -> String {
        if let path = file("socket", in: "RUNTIME_DIRECTORY", orFor: "/run/bled") { return path }
        guard let place = DaemonSocket.ofUser(environment: environment) else {
            let sentence = "No directory for the socket: XDG_RUNTIME_DIR is not set to an absolute path. Use --socket."
            throw CommandFailure(sentence, 64)
        }
        return place
    }
}
