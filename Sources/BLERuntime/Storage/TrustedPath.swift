import Glibc
import LinuxCalls

/// The name of a file in an open directory, checked so that no other user can replace or redirect the file.
///
/// Every directory from the root to the file must belong to root or to this process's user, and so must symbolic links
/// on the way. Other users must not be able to write to the directories, unless they are sticky like `/tmp`. All
/// operations are relative to the open directory, so they affect exactly what was checked.
package struct TrustedPath: Sendable {
    /// The maximum number of symbolic links to follow on the way, the same as in Linux.
    fileprivate static let mostLinks = 40

    /// The open directory that contains the file.
    let directory: FileDescriptor
    /// The name of the file in its directory.
    let name: String
    /// The path of the file, with all symbolic links resolved.
    package let path: String
    /// True if other users may create files in the directory, which must then be sticky.
    private let isShared: Bool

    /// Opens the directory of the file, and checks all directories on the way.
    ///
    /// - Parameters:
    ///   - path: The path of a file, which need not exist. A relative path starts at the working directory.
    ///   - mode: The permissions of missing directories, which are created; `nil` to create none.
    /// - Throws: `ENOENT` if a directory is missing, or the reason why a directory cannot be trusted.
    package init(_ path: String, creating mode: UInt32? = nil) throws(FileProblem) {
        var walk = try PathTraversal(path)
        while let component = walk.components.popLast() {
            if walk.components.isEmpty, component != ".." {
                guard try !walk.follow(component) else { continue }
                (directory, name, isShared) = (walk.directory, component, walk.isShared)
                self.path = walk.place + "/" + component
                return
            }
            try walk.enter(component, creating: mode)
        }
        throw FileProblem(.used, path, errno: EISDIR)
    }

    /// Opens the file, or the one with `suffix` added to its name, without following a symbolic link.
    ///
    /// A new file gets the permissions `mode`, minus the process's umask.
    func open(_ flags: Int32, mode: UInt32 = 0o600, suffix: String = "") throws(FileProblem) -> FileDescriptor {
        try checkOwner(suffix)
        let raw = openat(directory.raw, name + suffix, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        guard raw >= 0 else { throw problem(errno, suffix) }
        let file = FileDescriptor(raw)
        var facts = stat()
        guard fstat(raw, &facts) == 0 else { throw problem(errno, suffix) }
        try checkOwner(of: facts, suffix)
        return file
    }

    /// Opens the file for reading.
    ///
    /// Does not block if the file is a pipe.
    package func openToRead() throws(FileProblem) -> FileDescriptor { try open(O_RDONLY | O_NONBLOCK) }

    /// Throws if other users can write to the directory, and an untrusted user owns the file with `suffix` added to its
    /// name.
    private func checkOwner(_ suffix: String) throws(FileProblem) {
        if let facts = status(suffix: suffix) { try checkOwner(of: facts, suffix) }
    }

    private func checkOwner(of facts: stat, _ suffix: String) throws(FileProblem) {
        guard isShared, !Self.isTrusted(facts.st_uid) else { return }
        throw FileProblem(.used, path + suffix, .untrusted(path + suffix, .owned(by: facts.st_uid)))
    }

    /// Returns the status of the file, or of the one with `suffix` added to its name; `nil` if there is no such file.
    ///
    /// For a symbolic link, this is the status of the link itself.
    func status(suffix: String = "") -> stat? {
        var facts = stat()
        return fstatat(directory.raw, name + suffix, &facts, AT_SYMLINK_NOFOLLOW) == 0 ? facts : nil
    }

    /// True if there is a file of any kind with this name.
    package var exists: Bool { status() != nil }

    /// Removes the file if it is a socket; leaves any other file as it is.
    ///
    /// - Throws: ``FileProblem/Reason/untrusted(_:_:)`` if the socket belongs to an untrusted user.
    package func removeSocket() throws(FileProblem) {
        guard let facts = status(), facts.st_mode & S_IFMT == S_IFSOCK else { return }
        guard Self.isTrusted(facts.st_uid) else {
            throw FileProblem(.used, path, .untrusted(path, .owned(by: facts.st_uid)))
        }
        remove()
    }

    /// Lets all users connect to a socket that this process has just created; returns whether that succeeded.
    ///
    /// If another file, or another user's socket, has taken the socket's place, the permissions of that file stay as
    /// they are.
    func openSocketToAll() -> Bool {
        let raw = openat(directory.raw, name, open_place_only() | O_NOFOLLOW | O_CLOEXEC)
        guard raw >= 0 else { return false }
        let socket = FileDescriptor(raw)
        var facts = stat()
        guard fstat(raw, &facts) == 0 else { return false }
        guard facts.st_mode & S_IFMT == S_IFSOCK, facts.st_uid == geteuid() else {
            errno = EEXIST
            return false
        }
        // A descriptor opened with O_PATH does not allow changes of permissions, but its name below /proc does. Without
        // /proc, the name in the directory is used; no other user can replace this user's file there.
        let alias = "/proc/self/fd/\(socket.raw)"
        return chmod(alias, 0o666) == 0 || errno == ENOENT && fchmodat(directory.raw, name, 0o666, 0) == 0
    }

    /// Removes the file, or the one with `suffix` added to its name, if it exists.
    package func remove(suffix: String = "") { unlinkat(directory.raw, name + suffix, 0) }

    /// Replaces the file with one that contains these octets.
    ///
    /// Only one process may do this at a time.
    ///
    /// When this returns, the octets have been written to the disk. A reader finds either the old or the new file. The
    /// new file can be read by this process's user and by `reader`, regardless of the process's umask.
    package func replace(with octets: [UInt8], reader: UInt32? = nil) throws(FileProblem) {
        remove(suffix: ".new")
        let file = try open(O_WRONLY | O_CREAT | O_EXCL, suffix: ".new")
        guard file.restrict(toReader: reader), Self.write(octets, to: file.raw), fsync(file.raw) == 0,
            rename(suffix: ".new", to: "")
        else {
            let reason = errno
            remove(suffix: ".new")
            throw FileProblem(.written, path, errno: reason)
        }
        syncDirectory()
    }

    /// Creates a directory with this name if there is none, and lets only this process's user and `reader` enter it.
    ///
    /// A new directory gets these permissions before its name, so that a program of the reader can watch it as soon as
    /// it exists.
    package func makeDirectory(reader: UInt32) throws(FileProblem) {
        let suffix = exists ? "" : ".new"
        if !suffix.isEmpty, mkdirat(directory.raw, name + suffix, 0o700) != 0, errno != EEXIST {
            throw FileProblem(.written, path, errno: errno)
        }
        let folder = try open(O_RDONLY | O_DIRECTORY, suffix: suffix)
        guard folder.restrict(toReader: reader, isDirectory: true), suffix.isEmpty || rename(suffix: suffix, to: "")
        else { throw FileProblem(.written, path, errno: errno) }
    }

    private static func write(_ octets: [UInt8], to raw: Int32) -> Bool {
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return false }
            written += max(0, count)
        }
        return true
    }

    /// Renames the file that has `suffix` after its name, so that it has `other` instead; returns whether that
    /// succeeded.
    func rename(suffix: String, to other: String) -> Bool {
        renameat(directory.raw, name + suffix, directory.raw, name + other) == 0
    }

    /// Gives the file a second name, with `suffix` added; returns whether that succeeded.
    func link(suffix: String) -> Bool { linkat(directory.raw, name, directory.raw, name + suffix, 0) == 0 }

    /// Makes sure that the directory's entries have been written to the disk.
    private func syncDirectory() {
        let raw = openat(directory.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { return }
        fsync(raw)
        close(raw)
    }

    /// A path to the file that goes through the open directory, for system calls that take only paths.
    ///
    /// It is valid as long as this value exists. Without `/proc`, it is ``path``.
    var descriptorPath: String {
        let folder = "/proc/self/fd/\(directory.raw)"
        return access(folder, F_OK) == 0 ? "\(folder)/\(name)" : path
    }

    private func problem(_ code: Int32, _ suffix: String) -> FileProblem {
        FileProblem(.used, path + suffix, errno: code)
    }

    /// Returns whether a user is trusted with files that this process uses.
    ///
    /// Root and this process's user are trusted. So is the user that stands for unknown users in a user namespace,
    /// because the machine's root appears as that user.
    static func isTrusted(_ user: uid_t) -> Bool { user == 0 || user == geteuid() || user == unknownUser }

    /// The user that stands for all users that the process's user namespace does not know; `nil` outside of such a
    /// namespace.
    private static let unknownUser: uid_t? = {
        let map = SystemFile.text(of: "/proc/self/uid_map").split(whereSeparator: \.isWhitespace)
        guard !map.isEmpty, map != ["0", "0", "4294967295"] else { return nil }
        return SystemFile.line(of: "/proc/sys/kernel/overflowuid").flatMap { uid_t($0) }
    }()
}

/// A traversal of a path, from the root to a file.
private struct PathTraversal {
    /// The components of the path that have not been followed yet; the next one is the last element.
    var components: [String]
    /// The open directory that has been reached.
    private(set) var directory: FileDescriptor
    /// The path of ``directory``; empty for the root.
    private(set) var place = ""
    /// True if other users can write to ``directory``, which must then be sticky.
    private(set) var isShared = false

    private let path: String
    private var links = 0

    init(_ path: String) throws(FileProblem) {
        self.path = path
        let start = path.hasPrefix("/") ? "" : SystemFile.workingDirectory
        components = Self.components(of: start + "/" + path)
        let raw = Glibc.open("/", open_place_only() | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { throw FileProblem(.used, path, errno: errno) }
        directory = FileDescriptor(raw)
        try check(directory)
    }

    private static func components(of path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
    }

    /// Continues at the target of `component` if it is a symbolic link; returns whether it is one.
    mutating func follow(_ component: String) throws(FileProblem) -> Bool {
        var facts = stat()
        guard fstatat(directory.raw, component, &facts, AT_SYMLINK_NOFOLLOW) == 0,
            facts.st_mode & S_IFMT == S_IFLNK
        else { return false }
        let link = place + "/" + component
        guard TrustedPath.isTrusted(facts.st_uid) else {
            throw FileProblem(.used, path, .untrusted(link, .owned(by: facts.st_uid)))
        }
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(directory.raw, component, &target, target.count)
        links += 1
        guard count > 0, links <= TrustedPath.mostLinks else {
            throw FileProblem(.used, path, errno: count > 0 ? ELOOP : errno)
        }
        let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("/") {
            let root = Glibc.open("/", open_place_only() | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw FileProblem(.used, path, errno: errno) }
            (directory, place, isShared) = (FileDescriptor(root), "", false)
        }
        components += Self.components(of: text)
        return true
    }

    /// Enters a directory.
    ///
    /// If it is missing, creates it with the permissions `mode`, unless `mode` is `nil`.
    mutating func enter(_ component: String, creating mode: UInt32?) throws(FileProblem) {
        if component != "..", try follow(component) { return }
        var raw = openat(directory.raw, component, open_place_only() | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if raw < 0, errno == ENOENT, let mode {
            raw = try create(component, mode)
        }
        guard raw >= 0 else { throw FileProblem(.used, path, errno: errno) }
        directory = FileDescriptor(raw)
        if component == ".." {
            place = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
        } else {
            place += "/" + component
        }
        try check(directory)
    }

    private func create(_ component: String, _ mode: UInt32) throws(FileProblem) -> Int32 {
        let isNew = mkdirat(directory.raw, component, mode) == 0
        guard isNew || errno == EEXIST else {
            throw FileProblem(.written, place + "/" + component, errno: errno)
        }
        let raw = openat(directory.raw, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        // The permissions must not depend on the process's umask.
        if raw >= 0, isNew { fchmod(raw, mode) }
        return raw
    }

    private mutating func check(_ directory: FileDescriptor) throws(FileProblem) {
        var facts = stat()
        guard fstat(directory.raw, &facts) == 0 else { throw FileProblem(.used, path, errno: errno) }
        let own = place.isEmpty ? "/" : place
        guard TrustedPath.isTrusted(facts.st_uid) else {
            throw FileProblem(.used, path, .untrusted(own, .owned(by: facts.st_uid)))
        }
        isShared = facts.st_mode & 0o002 != 0 || facts.st_mode & 0o020 != 0 && !SystemFile.isPrivate(facts.st_gid)
        guard !isShared || facts.st_mode & S_ISVTX != 0 else {
            throw FileProblem(.used, path, .untrusted(own, .writable))
        }
    }
}
