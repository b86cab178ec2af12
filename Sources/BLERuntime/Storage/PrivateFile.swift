import Glibc
import LinuxCalls

/// A file that only its user can read, and that is replaced atomically.
///
/// Only the process that holds the lock replaces the file. A reader finds either the old or the new contents, even if a
/// process is killed while it writes.
package struct PrivateFile: Sendable {
    package let path: String
    /// The maximum length, in octets; larger than the contents ever are.
    package let mostOctets: Int

    package init(path: String, mostOctets: Int) {
        self.path = path
        self.mostOctets = mostOctets
    }

    /// Reads the file; returns `nil` if it does not exist.
    ///
    /// If the file is too large, only its beginning is returned.
    package func read() throws(FileProblem) -> [UInt8]? {
        let file: FileDescriptor
        do throws(FileProblem) {
            file = try TrustedPath(path).openToRead()
        } catch {
            if error.isMissing { return nil }
            throw FileProblem(.read, path, error.reason)
        }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while octets.count <= mostOctets {
            let count = Glibc.read(file.raw, &chunk, chunk.count)
            guard count != 0 else { break }
            if count > 0 {
                octets.append(contentsOf: chunk[..<count])
            } else if errno != EINTR {
                throw FileProblem(.read, path, errno: errno)
            }
        }
        return octets
    }

    /// Runs `body` while this call holds the file's lock, which keeps other processes and threads from replacing the
    /// file.
    ///
    /// The system releases the lock when the process that holds it ends. If one process holds the lock for ten seconds,
    /// this call fails, because that process has probably been stopped. Each process that takes the lock updates the
    /// time of the lock, so that several processes that hold it in turn are not mistaken for a single one.
    package func locked<Result>(_ body: () throws(FileProblem) -> Result) throws(FileProblem) -> Result {
        let lockPath = path + ".lock"
        let lock = try written { () throws(FileProblem) in
            try TrustedPath(path, creating: 0o700).open(O_RDWR | O_CREAT, suffix: ".lock")
        }
        let raw = lock.raw
        var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000), attempts = 2_000, mark = Self.lockTime(of: raw)
        while flock(raw, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno, latest = Self.lockTime(of: raw)
            attempts = latest == mark ? attempts - 1 : 2_000
            mark = latest
            guard failure == EWOULDBLOCK || failure == EINTR, attempts > 0 else {
                throw FileProblem(.locked, lockPath, errno: failure)
            }
            nanosleep(&pause, nil)
        }
        futimens(raw, nil)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Runs `body`, and reports its problem as a failure to write the file.
    private func written<Result>(_ body: () throws(FileProblem) -> Result) throws(FileProblem) -> Result {
        do throws(FileProblem) { return try body() } catch { throw FileProblem(.written, error.path, error.reason) }
    }

    /// Returns the time at which the lock was last taken, in nanoseconds since 1970.
    private static func lockTime(of lock: Int32) -> Int {
        var facts = stat()
        fstat(lock, &facts)
        return facts.st_mtim.tv_sec &* 1_000_000_000 &+ facts.st_mtim.tv_nsec
    }

    /// Replaces the contents of the file.
    ///
    /// The caller must hold the lock. When this returns, the contents have been written to the disk.
    package func replace(with octets: [UInt8]) throws(FileProblem) {
        guard octets.count <= mostOctets else { throw FileProblem(.written, path, errno: EFBIG) }
        try written { () throws(FileProblem) in try TrustedPath(path).replace(with: octets) }
    }

    /// Renames the file so that it will not be replaced, and returns its new path.
    ///
    /// The caller must hold the lock.
    func preserve() throws(FileProblem) -> String {
        let place = try TrustedPath(path)
        guard let own = place.status() else { throw FileProblem(.read, path, errno: errno) }
        let suffixes = [".unreadable"] + (2...9).map { ".unreadable-\($0)" }
        for suffix in suffixes {
            if let other = place.status(suffix: suffix) {
                guard other.st_ino == own.st_ino, other.st_dev == own.st_dev else { continue }
                return path + suffix
            }
            guard place.link(suffix: suffix) || place.rename(suffix: "", to: suffix) else {
                throw FileProblem(.written, path + suffix, errno: errno)
            }
            return path + suffix
        }
        throw FileProblem(.written, path + suffixes[0], errno: EEXIST)
    }

    /// True if the lock stays held by other processes for two seconds; the getter waits up to that long.
    ///
    /// The check does not create or change a file.
    var isHeld: Bool {
        guard let lock = try? TrustedPath(path).open(O_RDONLY, suffix: ".lock") else { return false }
        let raw = lock.raw
        defer { withExtendedLifetime(lock) {} }
        var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000)
        for _ in 0..<400 {
            if flock(raw, LOCK_EX | LOCK_NB) == 0 { return false }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            nanosleep(&pause, nil)
        }
        return true
    }

    /// Checks whether the file can be replaced or created, judging by the permissions of its directories.
    ///
    /// - Throws: The problem that prevents it.
    func checkReplaceable() throws(FileProblem) {
        var place = path
        while let slash = place.lastIndex(of: "/"), slash != place.startIndex {
            do throws(FileProblem) {
                let directory = try TrustedPath(place).directory
                if faccessat(directory.raw, ".", W_OK | X_OK, AT_EACCESS) == 0 { return }
                throw FileProblem(.written, String(place[..<slash]), errno: errno)
            } catch {
                guard error.isMissing else { throw FileProblem(.written, error.path, error.reason) }
            }
            place = String(place[..<slash])
        }
    }

    /// The permissions that other users have on the file, as mode bits; `nil` if there is no file.
    var rightsOfOthers: mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o077 : nil
    }
}
