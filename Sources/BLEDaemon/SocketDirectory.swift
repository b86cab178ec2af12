package import BLERuntime
import Glibc

/// The directory of the daemon's socket, which decides who may connect.
package enum SocketDirectory {
    /// Makes the directory of `path` if it is missing: for all users if root does, else for this user alone.
    ///
    /// - Throws: ``TransportError/Code/unreachable`` if it cannot be made.
    package static func make(for path: String) throws(TransportError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        guard mkdir(directory, geteuid() == 0 ? 0o755 : 0o700) != 0, errno != EEXIST else { return }
        throw TransportError(.unreachable, errno: errno, "making \(directory)")
    }

    /// The folder by which units learn that they are to run, beside the socket at `path`.
    package static func launches(besides path: String) -> String? {
        path.lastIndex(of: "/").map { path[..<$0] + "/launches" }
    }
}
