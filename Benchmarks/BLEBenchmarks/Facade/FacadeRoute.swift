import BLEDaemon
import BLERuntime
import BLESimulation
import Foundation
import Glibc

/// The connection between a workload's app and the host.
enum FacadeRoute: String, CaseIterable {
    /// The host is part of the app's process, without a daemon.
    case direct
    /// A daemon has the host, and the app is connected to the daemon by a socket.
    ///
    /// The daemon and the app are in one process, so the measured processor time is that of both.
    case daemon

    /// Calls `body` with a connection to the host; returns `nil` if that fails.
    func withLink<Result>(to runner: HostRunner, _ body: (any HostLink) -> Result) -> Result? {
        switch self {
        case .direct: return body(runner)
        case .daemon:
            let folder = FileManager.default.temporaryDirectory.appending(path: "bled-\(getpid())").path
            guard mkdir(folder, 0o700) == 0 else { return nil }
            defer { rmdir(folder) }
            let path = folder + "/socket", daemon = Daemon(Radios([("feed", runner)]))
            guard (try? daemon.listen(at: path)) != nil else { return nil }
            defer {
                daemon.stop()
                unlink(path)
            }
            return body(DaemonLink(to: path, radio: ""))
        }
    }
}
