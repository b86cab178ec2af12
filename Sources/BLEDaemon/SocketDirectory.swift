import BLERuntime
import Glibc

/// The directory of the daemon's socket, which determines who can connect.
package enum SocketDirectory {
    /// Finds the place of the socket, and creates directories that are missing: for all users if root does, else for
    /// this user only.
    ///
    /// - Throws: ``TransportError/Code/forbidden`` if another user could replace the socket,
    ///   ``TransportError/Code/unreachable`` if there is no such directory and none can be created.
    static func place(for path: String) throws(TransportError) -> TrustedPath {
        try transportError("finding the directory of \(path)") { () throws(FileProblem) in
            try TrustedPath(path, creating: geteuid() == 0 ? 0o755 : 0o700)
        }
    }

    /// Removes a socket without a listener, unless another user left it in a directory that is open to all.
    static func removeSocket(at place: TrustedPath) throws(TransportError) {
        try transportError("replacing \(place.path)") { () throws(FileProblem) in try place.removeSocket() }
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

    /// Returns the directory for launch files, beside the socket at `path`.
    package static func launches(besides path: String) -> String? {
        path.lastIndex(of: "/").map { path[..<$0] + "/launches" }
    }
}
