import Glibc

/// The paths of the daemon's socket.
package enum DaemonSocket {
    /// The name of the socket in its directory.
    private static let name = "bled/socket"

    /// The socket of the system's daemon.
    package static let system = "/run/" + name

    /// Returns the socket of the user's daemon; `nil` if the environment names no directory for it.
    package static func ofUser(environment: (String) -> String?) -> String? {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return directory + "/" + name
    }

    /// Returns the default paths for an app: the user's daemon, then the system's.
    package static func candidates(environment: (String) -> String?) -> [String] {
        (ofUser(environment: environment).map { [$0] } ?? []) + [system]
    }

    /// Returns the first of these paths with a running daemon; `nil` if there is none.
    package static func listening(among places: [String]) -> String? {
        places.first { problem(at: $0) == nil }
    }

    /// Returns whether there is a socket at `path`, of any program.
    package static func isSocket(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Returns the reason why the daemon at `path` cannot be reached; `nil` if it is running.
    static func problem(at path: String) -> TransportError? {
        let place = SocketAddress.unix(path: path)
        do throws(TransportError) {
            _ = try place.makeSocket { (socket, address, length) throws(TransportError) in
                // Who has much to do listens, too.
                guard Glibc.connect(socket, address, length) != 0, errno != EAGAIN else { return }
                throw .unconnected(place, errno: errno)
            }
            return nil
        } catch {
            return error
        }
    }
}
