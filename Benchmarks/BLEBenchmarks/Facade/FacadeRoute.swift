import BLEDaemon
import BLERuntime
import BLESimulation
import Foundation
import Glibc

/// How the app of a workload comes to its host.
enum FacadeRoute: String, CaseIterable {
    /// The host is the app's own.
    case direct
    /// A daemon has the host, and the app a socket to it.
    ///
    /// All is in one process, so that what the daemon and the app do is added up.
    case daemon

    /// Calls `body` with a way to a host.
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
