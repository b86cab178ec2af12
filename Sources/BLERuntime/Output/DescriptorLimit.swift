import Glibc

/// How many descriptors a process may have open.
package enum DescriptorLimit {
    /// What a program needs that uses one radio.
    package static let ofApp = 64
    /// What the daemon needs for all connections that it serves.
    package static let ofDaemon = 2_048

    /// Fewer than these are not enough to start with: the system's libraries end a process that cannot have them.
    private static let least = 32

    /// Raises the limit of this process as far as it may, unless it is high enough.
    ///
    /// - Returns: Why the program cannot run, as a sentence with the cure; `nil` if it can.
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

    /// Why a program with this limit cannot run; `nil` if it can.
    static func problem(limit: UInt64) -> String? {
        guard limit < least else { return nil }
        return "This process may open only \(limit) files but needs \(least). Raise the limit with “ulimit -n 1024”."
    }
}
