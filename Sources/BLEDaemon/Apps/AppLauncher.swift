import BLEHost
package import BLERuntime
import BLESession
import FoundationEssentials
import Glibc
import Logging

/// The reason why an app could not be launched.
package struct LaunchFailure: Error, Equatable {
    /// The reason, without a full stop.
    package let reason: String
    /// Advice, as one or more sentences; `nil` if there is none.
    package let cure: String?

    package init(_ reason: String, cure: String? = nil) {
        self.reason = reason
        self.cure = cure
    }
}

/// The part of the daemon that launches apps which have ended, when there are events for them.
///
/// Sendable because everything happens on the thread of the daemon's loop.
package final class AppLauncher: @unchecked Sendable {
    /// The time that a launched app has to connect before it may be launched again.
    static let restoreTimeout = Duration.seconds(10)

    /// The environment variable with the restore identifiers of the central managers that a launched app is to create,
    /// separated by commas.
    static let centralsVariable = "BLUETOOTH_RESTORE_CENTRALS"
    /// The environment variable with the restore identifiers of the peripheral managers that a launched app is to
    /// create, separated by commas.
    static let peripheralsVariable = "BLUETOOTH_RESTORE_PERIPHERALS"

    /// A launched program that has ended, with its process ID, command line and wait status.
    package struct End: Sendable {
        package let process: Int32
        /// The command line that was run.
        package let command: String
        /// The status, as returned by waitpid(2).
        package let status: Int32

        /// A description of how the program ended, for the journal.
        var words: String {
            let signal = status & 0x7F
            return signal == 0 ? "ended with status \(status >> 8 & 0xFF)" : "was terminated by signal \(signal)"
        }
    }

    /// A function that starts a program from a command line and additional environment variables.
    ///
    /// It calls its last argument on any thread when the program has ended.
    package typealias Run =
        @Sendable (
            _ command: [String], _ variables: [String: String], _ ended: @escaping @Sendable (End) -> Void
        ) throws(LaunchFailure) -> Void

    /// The method of launching an app.
    private enum LaunchMethod {
        case command([String])
        /// Through a systemd unit, which `command` starts; if `command` is `nil`, a path unit starts the unit when its
        /// launch file appears.
        case unit(UnitName, command: [String]?)

        /// A description of the method, for messages.
        var words: String {
            switch self {
            case .command(let command), .unit(_, let command?): "“\(command.joined(separator: " "))”"
            case .unit(let unit, nil): "\(unit)"
            }
        }
    }

    private struct Launch {
        let app: AppLaunch
        let time: ContinuousClock.Instant
        /// True if the app has connected, or has nothing left to restore.
        var isOver = false
    }

    private var launches: [Launch] = []
    private let socket: String?
    private let folder: LaunchFolder?
    private let manifest: @Sendable (_ program: String, _ user: UInt32) -> AppManifest?
    private let run: Run

    /// Creates a launcher.
    ///
    /// - Parameters:
    ///   - folder: The directory for launch files of systemd units; `nil` to write none.
    ///   - socket: The path of the daemon's socket, which launched apps get in an environment variable; `nil` if apps
    ///     find the daemon by themselves.
    ///   - manifest: Returns the manifest of a user's program.
    ///   - run: Starts a program.
    package init(
        telling folder: String? = nil,
        at socket: String? = nil,
        manifest: @escaping @Sendable (String, UInt32) -> AppManifest? = { AppManifest(ofProgram: $0, user: $1) },
        run: @escaping Run = AppLauncher.spawn
    ) {
        self.socket = socket
        self.folder = folder.map(LaunchFolder.init)
        self.manifest = manifest
        self.run = run
    }

    /// Returns whether an app can be launched.
    ///
    /// Apps of users other than the daemon's can only be launched through their units.
    func canLaunch(_ app: AppLaunch) -> Bool { method(to: app) != nil }

    /// Launches an app, unless it was launched less than ``restoreTimeout`` ago.
    ///
    /// - Parameters:
    ///   - app: The app to launch.
    ///   - sessions: The sessions that the app is to restore.
    ///   - radio: The radio of these sessions.
    ///   - ended: Called on any thread when the started program has ended.
    /// - Returns: True if the app was launched, false if it was launched recently or there is no way to launch it.
    /// - Throws: The reason, which is also logged, if launching failed.
    func launch(
        _ app: AppLaunch,
        restoring sessions: [AppKey],
        on radio: String,
        ended: @escaping @Sendable (End) -> Void = { _ in }
    ) throws(LaunchFailure) -> Bool {
        let now = ContinuousClock.now
        launches.removeAll { now - $0.time > Self.restoreTimeout }
        guard !launches.contains(where: { $0.app.isSameApp(as: app) }), let way = method(to: app) else { return false }
        launches.append(Launch(app: app, time: now))
        let centrals = sessions.filter { $0.role == .central }.map(\.identifier)
        let peripherals = sessions.filter { $0.role == .peripheral }.map(\.identifier)
        var variables = [
            Self.centralsVariable: centrals.joined(separator: ","),
            Self.peripheralsVariable: peripherals.joined(separator: ","),
        ]
        if let socket { variables[HostSpecification.variable] = "bled:\(socket)#\(radio)" }
        do throws(LaunchFailure) {
            try launch(app, by: way, variables, ended)
        } catch {
            let cure = error.cure.asNextSentence
            Logger.coreBluetooth.error("Cannot launch \(app.program) with \(way.words) (\(error.reason)).\(cure)")
            throw error
        }
        return true
    }

    /// Records that an app has connected, or has nothing left to restore, and removes the launch file of its unit.
    func endLaunch(of app: AppLaunch) {
        for index in launches.indices where launches[index].app.isSameApp(as: app) {
            launches[index].isOver = true
        }
        if case .unit(let unit, _) = method(to: app) { folder?.remove(unit, of: app.user) }
    }

    /// Returns whether an app was launched recently and is still expected to connect.
    func isAwaited(_ app: AppLaunch) -> Bool {
        launches.contains { $0.app.isSameApp(as: app) && !$0.isOver }
    }

    private func launch(
        _ app: AppLaunch,
        by way: LaunchMethod,
        _ variables: [String: String],
        _ ended: @escaping @Sendable (End) -> Void
    ) throws(LaunchFailure) {
        switch way {
        case .command(let command): try run(command, variables, ended)
        case .unit(let unit, let command?):
            do throws(LaunchFailure) {
                try folder?.write(variables, for: unit, of: app.user)
            } catch {
                let cure = error.cure.asNextSentence
                let problem = "\(unit) starts without its launch file, which names the sessions to restore"
                Logger.coreBluetooth.error("\(problem) (\(error.reason)).\(cure)")
            }
            try run(command, variables, ended)
        case .unit(let unit, nil):
            guard let folder else { throw LaunchFailure("the daemon has no directory for launch files") }
            try folder.write(variables, for: unit, of: app.user)
        }
    }

    /// Returns the way to launch an app; `nil` if there is none.
    ///
    /// If only the app itself has named its unit, the daemon does not start anything, and only writes the unit's launch
    /// file. The app may run in a container, where names can mean something different from what they mean outside.
    private func method(to app: AppLaunch) -> LaunchMethod? {
        let isOwn = app.user == geteuid()
        if app.isProgramKnown, let manifest = manifest(app.program, app.user),
            manifest.declares(BackgroundDeclaration.mode(of: app.role))
        {
            if let unit = manifest.unit {
                let start = app.user == 0 ? ["systemctl", "start"] : ["systemctl", "--user", "start"]
                return .unit(unit, command: isOwn ? start + [unit.description] : nil)
            }
            if isOwn, !manifest.launchCommand.isEmpty { return .command(manifest.launchCommand) }
        }
        return folder == nil ? nil : app.unit.map { .unit($0, command: nil) }
    }

    /// Starts a program in a new POSIX session, see setsid(2); calls `ended` on another thread when the program has
    /// ended.
    ///
    /// The `variables` are added to the environment of this process.
    package static func spawn(
        _ command: [String],
        _ variables: [String: String],
        ended: @escaping @Sendable (End) -> Void = { _ in }
    ) throws(LaunchFailure) {
        var attributes = posix_spawnattr_t(), none = sigset_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The daemon blocks signals that it waits for; programs start with none blocked.
        sigemptyset(&none)
        let setsid: Int32 = 0x80
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | setsid))
        var process = pid_t()
        let failure = ProcessArguments.with(command, variables) { arguments, environment in
            posix_spawnp(&process, command[0], nil, &attributes, arguments, environment)
        }
        guard failure == 0 else { throw LaunchFailure(String(cString: strerror(failure))) }
        let child = process
        let isWatched = SystemThread.start {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 { guard errno == EINTR else { return } }
            ended(End(process: child, command: command.joined(separator: " "), status: status))
        }
        if !isWatched {
            Logger.coreBluetooth.error("Cannot watch the launched process \(child): no thread could be created.")
        }
    }
}
