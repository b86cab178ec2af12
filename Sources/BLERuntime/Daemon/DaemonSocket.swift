import Glibc

/// The paths of the daemon's socket.
package enum DaemonSocket {
    /// The path of the socket below the directory for run-time files.
    private static let name = "bled/socket"

    /// The path of the system daemon's socket.
    package static let system = "/run/" + name

    /// Returns the path of the user daemon's socket; `nil` if `XDG_RUNTIME_DIR` is not set to an absolute path.
    package static func ofUser(environment: (String) -> String?) -> String? {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return directory + "/" + name
    }

    /// Returns the paths where an app looks for a daemon: the user's, then the system's.
    package static func candidates(environment: (String) -> String?) -> [String] {
        (ofUser(environment: environment).map { [$0] } ?? []) + [system]
    }

    /// Returns the first of `places` at which a daemon is running; `nil` if there is none.
    package static func listening(among places: [String]) -> String? {
        places.first { problem(at: $0) == nil }
    }

    /// Returns whether `path` is a socket, which need not be a daemon's.
    package static func isSocket(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Returns the reason why the daemon at `path` cannot be reached; `nil` if it is running.
    static func problem(at path: String) -> TransportError? {
        let place = SocketAddress.unix(path: path)
        do throws(TransportError) {
            _ = try place.makeSocket { (socket, address, length) throws(TransportError) in
                // A daemon whose queue of connections is full (EAGAIN) is running, too.
                guard Glibc.connect(socket, address, length) != 0, errno != EAGAIN else { return }
                throw .unconnected(place, errno: errno)
            }
            return nil
        } catch {
            return error
        }
    }
}
