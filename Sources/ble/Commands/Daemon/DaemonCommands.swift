import ArgumentParser
import BLEHost
import BLERuntime
import BLESession
import Glibc

/// The daemon that apps in a given environment use.
struct DaemonChoice {
    private static let nobody = CommandError.noDaemon("no program listens on the default socket")

    /// The value of `BLUETOOTH_HOST`; `nil` if it is not set.
    let host: String?
    /// The path of the default socket if a daemon listens there; otherwise `nil`.
    let found: String?

    /// The daemon that an app would use if it ran with this process's environment variables.
    static var own: Self {
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        let found = DaemonSocket.listening(among: DaemonSocket.candidates(environment: environment))
        return Self(host: HostSpecification.ofProcess, found: found)
    }

    /// The socket path of the daemon that ``host`` names, otherwise ``found``.
    ///
    /// Reading it throws an error if there is neither.
    var path: String {
        get throws(CommandError) {
            if let host, case .daemon(let named?, _)? = try? HostSpecification(host) { return named }
            guard let found else { throw Self.nobody }
            return found
        }
    }

    /// The socket path of the daemon through which apps in this environment share the radio; `nil` if they use no
    /// daemon.
    var used: String? {
        do {
            try check()
            return try path
        } catch {
            return nil
        }
    }

    /// Throws an error unless apps share the radio through a daemon, either one named by `BLUETOOTH_HOST` or one that
    /// listens on the default socket.
    func check() throws(CommandError) {
        guard let host else {
            guard found != nil else { throw Self.nobody }
            return
        }
        guard case .daemon? = try? HostSpecification(host) else {
            let value = "\(HostSpecification.variable) is “\(host.printable)”"
            throw .noDaemon("\(value), which does not name a daemon; unset it, or set it to bled")
        }
    }
}

/// Sends a question to the daemon that apps in this environment use, and returns the daemon's answer.
@MainActor
func askDaemon(_ question: Question) throws -> Answer {
    let path = try DaemonChoice.own.path
    let answer: Answer
    do throws(TransportError) {
        answer = try DaemonQuery(at: path).ask(question)
    } catch {
        let isAbsent = error.code == .unreachable && [ENOENT, ECONNREFUSED].contains(error.errno)
        throw isAbsent ? CommandError.noDaemon("\(error)") : .daemonFailed(error)
    }
    guard case .refused(let refusal) = answer else { return answer }
    throw CommandError.daemonRefused(refusal.sentence)
}

@MainActor
func askForApps() throws -> [SessionInfo] {
    guard case .apps(let apps) = try askDaemon(.apps) else { return [] }
    return apps
}

struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List the apps that use the daemon.",
        discussion: """
            One line for each session: the process, or “kept” if the session continues without its app; its role, its \
            state, its radio, what it uses the radio for, the number of events received, and its program. Root and the \
            daemon's user see all sessions; other users see only their own.

            Examples:
              ble apps
              BLUETOOTH_HOST=bled:/tmp/lab/bled ble apps --json
            """
    )

    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let apps = try askForApps()
            if !apps.isEmpty { printer.heading(SessionInfo.columns) }
            for app in apps { printer.print(app.fact) }
            if apps.isEmpty { printer.remark("No sessions.") }
        }
    }
}

struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Move an app to the foreground or the background, suspend it, or quit it.",
        discussion: """
            The new state lasts until the app changes it. In the background, a scan reports only devices that \
            advertise a service that the app asked for, and each device only once; when suspended, the app finds no \
            devices and does not advertise. Quitting ends the process with SIGTERM and drops its session; unlike after \
            any other exit, the app is not launched again.

            Examples:
              ble app 4711 background
              ble app 4711 foreground
              ble app 4711 quit
            """
    )

    @Argument(
        help: "The app's process ID, as “ble apps” prints it.",
        transform: Bounds<UInt32>(1...UInt32(Int32.max)).read
    )
    var process: UInt32
    @Argument(help: "The new state.")
    var state: RequestedState
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            if let phase = state.phase {
                _ = try askDaemon(.move(process: process, to: phase))
            } else {
                // This comes first, because the daemon drops the session even if this process may not end the app.
                try Self.send(0, to: process)
                _ = try askDaemon(.quit(process: process))
                try Self.send(SIGTERM, to: process)
            }
            let fields: [String: Any] = ["process": Int(process), "phase": state.rawValue]
            let change = state.phase == nil ? "was asked to quit" : "is now treated as a \(state.rawValue) app"
            printer.print(Fact("app_moved", fields, text: "Process \(process) \(change)."))
        }
    }

    /// Sends a signal to an app, or with the number 0 only checks that this process may do so.
    ///
    /// Does nothing if the app has already ended. `kill` is the system call.
    static func send(
        _ number: Int32,
        to process: UInt32,
        kill: (pid_t, Int32) -> Int32 = Glibc.kill
    ) throws(CommandError) {
        guard kill(pid_t(process), number) != 0, errno != ESRCH else { return }
        throw .cannotQuit(process, String(cString: strerror(errno)))
    }

    /// The state that the user requests for an app.
    enum RequestedState: String, ExpressibleByArgument, CaseIterable {
        case foreground, background, suspended, quit

        /// The app phase for this request; `nil` if the request is to quit the app.
        var phase: AppPhase? {
            switch self {
            case .foreground: .foreground
            case .background: .background
            case .suspended: .suspended
            case .quit: nil
            }
        }
    }
}

struct Policy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Explain what an app may do through the daemon, and why.",
        discussion: """
            Without a process ID, explains what this command itself may do.

            Examples:
              ble policy
              ble policy 4711 --json
            """
    )

    @Argument(
        help: "The app's process ID, as “ble apps” prints it (default: this command).",
        transform: Bounds<UInt32>(1...UInt32(Int32.max)).read
    )
    var process: UInt32?
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let process = process ?? UInt32(bitPattern: getpid())
            guard case .grant(let grant) = try askDaemon(.grant(process: process)) else { return }
            printer.print(grant.fact(of: process))
        }
    }
}
