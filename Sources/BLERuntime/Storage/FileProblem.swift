import Glibc

/// A failed file operation, with advice.
package struct FileProblem: Error, Equatable {
    /// The operation that failed.
    package enum Action: String { case read, written, locked, used }

    /// The reason why a directory or a file is not trusted.
    package enum Exposure: Equatable {
        /// Other users may write to the directory, and it is not sticky.
        case writable
        /// The file or directory belongs to another user.
        case owned(by: UInt32)
    }

    package enum Reason: Equatable {
        case system(errno: Int32)
        /// The file was written by a later version of this package.
        case newer(version: Int)
        /// Another user could replace the file, because this directory, link or file is not trusted.
        case untrusted(String, Exposure)
    }

    package let action: Action
    package let path: String
    package let reason: Reason
    /// The file, or the nearest existing directory above it; `nil` if there is none.
    private let place: Place?

    private struct Place: Equatable {
        let path: String
        let owner: uid_t
        let isDirectory: Bool
    }

    init(_ action: Action, _ path: String, _ reason: Reason) {
        self.action = action
        self.path = path
        self.reason = reason
        place = Self.nearest(to: path)
    }

    init(_ action: Action, _ path: String, errno: Int32) { self.init(action, path, .system(errno: errno)) }

    private static func nearest(to path: String) -> Place? {
        var path = path
        while !path.isEmpty {
            var status = stat()
            if stat(path, &status) == 0 {
                return Place(path: path, owner: status.st_uid, isDirectory: status.st_mode & S_IFMT == S_IFDIR)
            }
            guard let slash = path.lastIndex(of: "/") else { return nil }
            path = String(path[..<slash])
        }
        return nil
    }

    /// The command line that fixes the problem; `nil` if no single command does.
    var command: String? {
        switch reason {
        case .system(EACCES), .system(EPERM):
            guard let place else { return nil }
            if place.owner != geteuid() {
                // A directory above the file may be one of the system.
                return place.isDirectory ? nil : "sudo chown \(geteuid()) \(place.path)"
            }
            return "chmod \(place.isDirectory ? "u+rwx" : "u+rw") \(place.path)"
        case .untrusted(let path, .writable): return "chmod go-w \(path)"
        case .newer, .system, .untrusted(_, .owned): return nil
        }
    }

    /// Advice, as one or more sentences; `nil` if there is none.
    package var cure: String? {
        switch reason {
        case .newer: return "Use a program with a newer version of this library, or move the file elsewhere."
        case .system(EACCES), .system(EPERM):
            guard let place else { return nil }
            let isOwn = place.owner == geteuid(), stranger = "\(place.path) belongs to user \(place.owner)"
            guard let command else { return "\(stranger). Use a file in a directory that belongs to you." }
            return isOwn ? "Run “\(command)”." : "\(stranger). Run “\(command)”."
        case .untrusted(let path, .writable): return "Run “chmod go-w \(path)” as its owner, or use another directory."
        case .untrusted(_, .owned):
            return "Use a directory that belongs to \(geteuid() == 0 ? "root" : "root or to you"), or /var/tmp."
        case .system(ENOSPC), .system(EDQUOT): return "Free up space on its disk."
        case .system(EROFS):
            return "Use a directory on a writable file system; XDG_STATE_HOME sets the one for stored state."
        case .system(EWOULDBLOCK): return "Another process has locked it; end that process or wait."
        case .system(EOPNOTSUPP): return "Use a file system with access control lists, acl(5), such as tmpfs or ext4."
        case .system(EEXIST): return "The names up to “.unreadable-9” are taken, too; move these files elsewhere."
        case .system: return nil
        }
    }

    /// A sentence that says which operation failed, and why.
    var sentence: String { "\(path) cannot be \(action.rawValue): \(text)." }

    /// The reason for the failure, without a full stop.
    package var text: String {
        switch reason {
        case .system(let errno): String(cString: strerror(errno))
        case .newer(let version): "Its format, version \(version), is too new"
        case .untrusted(let path, .writable): "Other users may write to \(path), which has no sticky bit"
        case .untrusted(let path, .owned(let user)): "\(path) belongs to user \(user), who could replace the file"
        }
    }

    /// True if the file or directory does not exist.
    var isMissing: Bool { reason == .system(errno: ENOENT) }
}

extension FileProblem: CustomStringConvertible {
    package var description: String { sentence + cure.asNextSentence }
}
