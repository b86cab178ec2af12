import Glibc

/// The limits on the number of file descriptors that a process may have open.
package enum DescriptorLimit {
    /// The number of file descriptors that a program with one radio needs.
    package static let ofApp = 64
    /// The number of file descriptors that the daemon needs for all connections that it serves.
    package static let ofDaemon = 2_048

    /// The minimum limit with which a program can run.
    ///
    /// The system's libraries end a process that runs out of file descriptors.
    private static let least = 32

    /// Raises the limit of this process to `wanted`, or as far as the system permits.
    ///
    /// A higher limit is kept.
    ///
    /// - Returns: The reason why the program cannot run, as a sentence with advice; `nil` if it can.
    package static func raise(to wanted: Int) -> String? {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return nil }
        if limit.rlim_cur < wanted {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            setrlimit(kind, &limit)
            getrlimit(kind, &limit)
        }
        return problem(limit: UInt64(limit.rlim_cur))
    }

    /// Returns the reason why a program with this limit cannot run; `nil` if it can.
    static func problem(limit: UInt64) -> String? {
        guard limit < least else { return nil }
        return """
            This process may open at most \(limit) files, but needs \(least). The hard limit is too low: raise it with \
            “LimitNOFILE=1024” in a systemd unit, or with “nofile” in /etc/security/limits.conf.
            """
    }
}
