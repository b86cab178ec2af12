import BLEHost
import BLERuntime
import Foundation
import Glibc
import Logging

/// Launches apps again for which something has happened.
///
/// Sendable because everything happens on the thread of the daemon's loop.
package final class AppLauncher: @unchecked Sendable {
    /// How long an app has to come before it is launched again.
    static let patience = Duration.seconds(10)

    /// What a launched app is told of the managers that it has to create again, with commas between their identifiers.
    static let centralsVariable = "BLUETOOTH_RESTORE_CENTRALS"
    static let peripheralsVariable = "BLUETOOTH_RESTORE_PERIPHERALS"

    private var launches: [(key: AppKey, time: ContinuousClock.Instant)] = []
    private let manifest: @Sendable (_ program: String, _ user: UInt32) -> AppManifest?
    private let run: @Sendable ([String], [String: String]) -> Bool

    /// Creates a launcher.
    ///
    /// - Parameters:
    ///   - manifest: Finds what the app with this program says of itself.
    ///   - run: Starts a program with its arguments and further variables of the environment; returns whether it could.
    package init(
        manifest: @escaping @Sendable (String, UInt32) -> AppManifest? = { AppManifest(ofProgram: $0, user: $1) },
        run: @escaping @Sendable ([String], [String: String]) -> Bool = AppLauncher.spawn
    ) {
        self.manifest = manifest
        self.run = run
    }

    /// Whether it is known how to launch an app, and allowed: apps of other users are launched by their units alone.
    func canLaunch(_ key: AppKey) -> Bool { command(for: key) != nil }

    /// Launches an app, unless that was done a moment ago; returns whether it could, `nil` if there was nothing to do.
    func launch(_ key: AppKey, restoring sessions: [AppKey]) -> Bool? {
        let now = ContinuousClock.now
        launches.removeAll { now - $0.time > Self.patience }
        guard !launches.contains(where: { $0.key.user == key.user && $0.key.program == key.program }),
            let command = command(for: key)
        else { return nil }
        launches.append((key, now))
        let centrals = sessions.filter { $0.role == .central }.map(\.identifier)
        let peripherals = sessions.filter { $0.role == .peripheral }.map(\.identifier)
        let variables = [
            Self.centralsVariable: centrals.joined(separator: ","),
            Self.peripheralsVariable: peripherals.joined(separator: ","),
        ]
        guard !run(command, variables) else { return true }
        Logger.coreBluetooth.error("\(key.program) could not be launched with “\(command.joined(separator: " "))”.")
        return false
    }

    private func command(for key: AppKey) -> [String]? {
        guard !key.program.isEmpty, let manifest = manifest(key.program, key.user),
            manifest.declares(BackgroundDeclaration.mode(of: key.role))
        else { return nil }
        if let unit = manifest.unit {
            return key.user == 0 ? ["systemctl", "start", unit] : ["systemctl", "--user", "start", unit]
        }
        guard key.user == geteuid(), !manifest.launchCommand.isEmpty else { return nil }
        return manifest.launchCommand
    }

    /// Starts a program, of which nothing is left when it ends; whether it was started.
    package static func spawn(_ command: [String], _ variables: [String: String]) -> Bool {
        var attributes = posix_spawnattr_t(), none = sigset_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Programs begin with the signals that the daemon holds back for itself.
        sigemptyset(&none)
        let setsid: Int32 = 0x80
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | setsid))
        return ProcessVectors.with(command, variables) { arguments, environment in
            var process = pid_t()
            let failure = posix_spawnp(&process, command[0], nil, &attributes, arguments, environment)
            guard failure == 0 else { return false }
            let child = process
            Thread.detachNewThread { while waitpid(child, nil, 0) < 0, errno == EINTR {} }
            return true
        }
    }
}
