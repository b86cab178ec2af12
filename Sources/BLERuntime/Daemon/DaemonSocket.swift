import Glibc

/// Where the daemon that has the radio listens, for whoever is not told another place.
package enum DaemonSocket {
    /// The name of the socket in its directory.
    private static let name = "bled/socket"

    /// Where a daemon of the system listens.
    package static let system = "/run/" + name

    /// Where a daemon of the user listens; `nil` where the environment names no directory for that.
    package static func ofUser(environment: (String) -> String?) -> String? {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return directory + "/" + name
    }

    /// Where an app looks that is not told a place: for the user's daemon, then for that of the system.
    package static func candidates(environment: (String) -> String?) -> [String] {
        (ofUser(environment: environment).map { [$0] } ?? []) + [system]
    }

    /// The first place of these where somebody listens now; `nil` if nobody does.
    package static func listening(among places: [String]) -> String? {
        places.first { problem(at: $0) == nil }
    }

    /// Whether there is a socket at `path`, of whomever.
    package static func isSocket(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Why nobody can be reached at `path`; `nil` if somebody listens there.
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
