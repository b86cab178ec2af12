import BLERuntime
import Glibc

/// The directory of the daemon's socket, whose permissions determine which users can connect.
package enum SocketDirectory {
    /// Returns the path of the socket, and creates missing directories.
    ///
    /// If the daemon runs as root, all users can enter the directories that it creates; otherwise, only the daemon's
    /// user can.
    ///
    /// - Throws: ``TransportError/Code/forbidden`` if another user could replace the socket,
    ///   ``TransportError/Code/unreachable`` if the directory does not exist and cannot be created.
    static func place(for path: String) throws(TransportError) -> TrustedPath {
        try transportError("cannot use the directory of \(path)") { () throws(FileProblem) in
            try TrustedPath(path, creating: geteuid() == 0 ? 0o755 : 0o700)
        }
    }

    /// Removes a socket that no program listens on.
    ///
    /// - Throws: ``TransportError/Code/forbidden`` if the socket belongs to another user.
    static func removeSocket(at place: TrustedPath) throws(TransportError) {
        try transportError("cannot replace \(place.path)") { () throws(FileProblem) in try place.removeSocket() }
    }

    private static func transportError<Result>(
        _ context: String,
        _ body: () throws(FileProblem) -> Result
    ) throws(TransportError) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            guard case .system(let code) = error.reason else {
                throw TransportError(.forbidden, error.text, cure: error.cure)
            }
            throw TransportError(.unreachable, errno: code, context, cure: error.cure)
        }
    }

    /// Returns the directory for launch files, which is beside the socket at `path`; `nil` if `path` has no directory.
    package static func launches(besides path: String) -> String? {
        path.lastIndex(of: "/").map { path[..<$0] + "/launches" }
    }
}
