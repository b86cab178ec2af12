import Glibc

/// A file that only its user can read, that is replaced as a whole, and by one process at a time.
///
/// A reader finds what was there before or what was put in its place, wherever a writer is stopped.
package struct PrivateFile: Sendable {
    package let path: String
    /// More than is ever written, so that a file that is something else is not read to its end.
    package let mostOctets: Int

    package init(path: String, mostOctets: Int) {
        self.path = path
        self.mostOctets = mostOctets
    }

    /// What is in the file; `nil` if there is none.
    ///
    /// Of a file that is too large it is the beginning.
    package func read() throws(FileProblem) -> [UInt8]? {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else {
            guard errno == ENOENT else { throw FileProblem(.read, path, errno: errno) }
            return nil
        }
        defer { close(raw) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while octets.count <= mostOctets {
            let count = Glibc.read(raw, &chunk, chunk.count)
            guard count != 0 else { break }
            if count > 0 {
                octets.append(contentsOf: chunk[..<count])
            } else if errno != EINTR {
                throw FileProblem(.read, path, errno: errno)
            }
        }
        return octets
    }

    /// Runs `body` while no other process is at the file, nor another thread of this one.
    ///
    /// The system lets go of the lock of a process that ends in whichever way. One that holds it for longer than ten
    /// seconds has been stopped, and is not waited for; who has it leaves a mark, so that many that have it in turn
    /// are told from one.
    package func locked<Result>(_ body: () throws(FileProblem) -> Result) throws(FileProblem) -> Result {
        try makeDirectories()
        let lockPath = path + ".lock"
        let raw = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard raw >= 0 else { throw FileProblem(.written, lockPath, errno: errno) }
        defer { close(raw) }
        var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000), attempts = 2_000, mark = Self.mark(of: raw)
        while flock(raw, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno, latest = Self.mark(of: raw)
            attempts = latest == mark ? attempts - 1 : 2_000
            mark = latest
            guard failure == EWOULDBLOCK || failure == EINTR, attempts > 0 else {
                throw FileProblem(.locked, lockPath, errno: failure)
            }
            nanosleep(&pause, nil)
        }
        futimens(raw, nil)
        return try body()
    }

    /// When somebody last took the lock, in nanoseconds.
    private static func mark(of lock: Int32) -> Int {
        var facts = stat()
        fstat(lock, &facts)
        return facts.st_mtim.tv_sec &* 1_000_000_000 &+ facts.st_mtim.tv_nsec
    }

    /// Puts `octets` in the place of what is in the file; only for those who hold the lock.
    ///
    /// When this returns they are on the disk.
    package func replace(with octets: [UInt8]) throws(FileProblem) {
        guard octets.count <= mostOctets else { throw FileProblem(.written, path, errno: EFBIG) }
        let temporary = path + ".new"
        unlink(temporary)
        let raw = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard raw >= 0 else { throw FileProblem(.written, temporary, errno: errno) }
        defer { close(raw) }
        guard Self.write(octets, to: raw), fsync(raw) == 0, rename(temporary, path) == 0 else {
            let reason = errno
            unlink(temporary)
            throw FileProblem(.written, path, errno: reason)
        }
        let directory = open(directoryPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    /// Gives the file as it is another name, under which nobody replaces it, and returns that; only for those who hold
    /// the lock.
    func setAside() throws(FileProblem) -> String {
        var own = stat()
        guard lstat(path, &own) == 0 else { throw FileProblem(.read, path, errno: errno) }
        let names = [path + ".unreadable"] + (2...9).map { "\(path).unreadable-\($0)" }
        for name in names {
            var other = stat()
            if lstat(name, &other) == 0 {
                guard other.st_ino == own.st_ino, other.st_dev == own.st_dev else { continue }
                return name
            }
            guard link(path, name) == 0 || rename(path, name) == 0 else {
                throw FileProblem(.written, name, errno: errno)
            }
            return name
        }
        throw FileProblem(.written, names[0], errno: EEXIST)
    }

    /// Whether another process holds the lock, and does not let go of it within two seconds.
    ///
    /// Nothing is made or changed for it.
    var isHeld: Bool {
        let raw = open(path + ".lock", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return false }
        defer { close(raw) }
        var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000)
        for _ in 0..<400 {
            if flock(raw, LOCK_EX | LOCK_NB) == 0 { return false }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            nanosleep(&pause, nil)
        }
        return true
    }

    /// Whether the file can be replaced or made, as far as the directories tell.
    ///
    /// - Throws: What stands in the way of that.
    func checkReplaceable() throws(FileProblem) {
        var place = directoryPath
        while !place.isEmpty {
            if faccessat(AT_FDCWD, place, W_OK | X_OK, AT_EACCESS) == 0 { return }
            guard errno == ENOENT, let slash = place.lastIndex(of: "/") else {
                throw FileProblem(.written, place, errno: errno)
            }
            place = String(place[..<slash])
        }
    }

    /// What others than its user may do with the file, as the bits of a mode; `nil` if there is no file.
    var rightsOfOthers: mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o077 : nil
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

    private var directoryPath: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    private func makeDirectories() throws(FileProblem) {
        for (index, character) in zip(path.indices, path) where character == "/" && index != path.startIndex {
            let directory = String(path[..<index])
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST || errno == EISDIR else {
                throw FileProblem(.written, directory, errno: errno)
            }
        }
    }
}
