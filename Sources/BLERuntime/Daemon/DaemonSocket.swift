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
        places.first { isListened(at: $0) }
    }

    /// Whether there is a socket at `path`, of whomever.
    package static func isSocket(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    private static func isListened(at path: String) -> Bool {
        var answers = false
        _ = try? SocketAddress.unix(path: path).makeSocket { (socket, address, length) throws(TransportError) in
            answers = Glibc.connect(socket, address, length) == 0 || errno == EAGAIN
        }
        return answers
    }
}
