import FoundationEssentials
import Glibc

/// Access to the kernel's virtual files.
package enum SystemFile {
    /// Returns the text of a file; empty if it cannot be read.
    ///
    /// Reading stops once there are at least `most` octets.
    static func text(of path: String, most: Int = 1_048_576) -> String {
        let raw = open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return "" }
        let file = FileDescriptor(raw)
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while octets.count < most {
            let count = read(file.raw, &buffer, buffer.count)
            guard count > 0 else { break }
            octets += buffer[..<count]
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Returns the first non-empty line of a file, without surrounding spaces; `nil` if there is no such line.
    static func line(of path: String) -> String? {
        text(of: path).split(separator: "\n").first.map { line in
            String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Returns the sorted names in a directory; empty if the directory cannot be read.
    package static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { octets in
                String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns a path without symbolic links; `path` itself if the file does not exist.
    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns whether a file is a memory device such as `/dev/null` (major device number 1).
    static func isMemory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR && status.st_rdev >> 8 == 1
    }

    /// Returns the IDs of all groups that a process belongs to; empty if the process does not exist.
    package static func groups(ofProcess process: UInt32) -> [UInt32] {
        let lines = text(of: "/proc/\(process)/status").split(separator: "\n")
        // The first of the four numbers after “Gid:” is the process's own group; “Groups:” lists the others.
        let own = lines.first { $0.hasPrefix("Gid:") }?.split(whereSeparator: \.isWhitespace).dropFirst().prefix(1)
        let others = lines.first { $0.hasPrefix("Groups:") }?.split(whereSeparator: \.isWhitespace).dropFirst()
        return (Array(own ?? []) + Array(others ?? [])).compactMap { UInt32($0) }
    }

    /// Returns whether a process is stopped by a signal or frozen with its cgroup.
    ///
    /// Returns false if the kernel does not report the state of the process.
    package static func isHalted(process: UInt32) -> Bool {
        let state = text(of: "/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("State:") }
        if state?.split(whereSeparator: \.isWhitespace).dropFirst().first?.uppercased() == "T" { return true }
        let groups = text(of: "/proc/\(process)/cgroup").split(separator: "\n")
        guard let group = groups.first(where: { $0.hasPrefix("0::") })?.dropFirst(3) else { return false }
        return text(of: "/sys/fs/cgroup\(group)/cgroup.events").split(separator: "\n").contains("frozen 1")
    }

    /// Returns the name of a file's group; `nil` if the file does not exist or the group has no name.
    static func group(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, let group = getgrgid(status.st_gid) else { return nil }
        return String(cString: group.pointee.gr_name)
    }

    /// Returns the reason why Foundation could not read, write or decode the file at `path`, without a full stop.
    package static func reason(for error: any Error, at path: String) -> String {
        if let error = error as? DecodingError { return error.explanation }
        if let cause = (error as? CocoaError)?.underlying as? POSIXError {
            return String(cString: strerror(cause.code.rawValue))
        }
        return isDirectory(path) ? "it is a directory" : "\(error)"
    }

    /// Returns whether a path leads to a directory.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns whether two paths lead to the same file.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        var first = stat(), second = stat()
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// The working directory of this process; empty if the directory no longer exists.
    ///
    /// Callers append a slash and a relative path. If the working directory no longer exists, the resulting path starts
    /// at the root.
    package static var workingDirectory: String {
        guard let directory = getcwd(nil, 0) else { return "" }
        defer { free(directory) }
        return String(cString: directory)
    }

    /// Returns whether this process's user is probably the only member of a group.
    ///
    /// True for root's group if the user is root. For any other user, true for the process's own group if the group has
    /// the user's name: many distributions create such a group along with each user.
    static func isPrivate(_ group: gid_t) -> Bool {
        if geteuid() == 0 { return group == 0 }
        guard group == getegid(), let entry = getgrgid(group), let user = getpwuid(geteuid()) else { return false }
        return strcmp(entry.pointee.gr_name, user.pointee.pw_name) == 0
    }

    /// Returns the contents of an open file; `nil` if it cannot be read or has more than `most` octets.
    package static func octets(of file: FileDescriptor, most: Int) -> [UInt8]? {
        var octets: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 65_536)
        while octets.count <= most {
            let count = read(file.raw, &chunk, chunk.count)
            guard count != 0 else { return octets }
            guard count > 0 || errno == EINTR else { return nil }
            octets += chunk[..<max(0, count)]
        }
        return nil
    }

    /// Returns the target of a symbolic link; `nil` if the path is not a symbolic link or cannot be read.
    package static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
