import Glibc

/// A file that records HCI packets.
///
/// Each packet is written immediately, so that none are missing after a crash.
///
/// In a format with comments, apps' requests and events become comments on the next packet. A file that has reached its
/// maximum size gets the suffix “.1”, replacing any earlier file of that name, and a new file is started.
package final class CaptureFile: Sendable {
    /// The environment variable with the file's path.
    package static let variable = "BLUETOOTH_CAPTURE"

    /// The reason why a capture cannot be written.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let path: String
        package let reason: String

        /// Advice, as one or more sentences; `nil` if the reason says enough.
        package let cure: String?

        init(path: String, reason: String) {
            self.path = path
            self.reason = reason
            cure = nil
        }

        init(path: String, _ problem: FileProblem) {
            self.path = path
            reason = problem.text
            if case .untrusted = problem.reason { cure = problem.cure } else { cure = nil }
        }

        package var description: String {
            "\(path) cannot be written as a capture: \(reason)." + cure.asNextSentence
        }
    }

    /// The maximum number of comments that wait for a packet; further ones replace the oldest.
    private static let mostComments = 256

    /// The properties of a pcapng interface; packets with different properties need different interfaces.
    private struct Interface: Equatable {
        var source: PacketSource
        var isBefore1970: Bool
    }

    private struct State {
        /// The open file; `nil` after a write error.
        var descriptor: FileDescriptor?
        var size = 0
        var interfaces: [Interface] = []
        var comments: [String] = []
        var clock: WallClock?
    }

    private let path: String
    private let format: CaptureFormat
    private let limit: Int
    private let failed: @Sendable (Failure) -> Void
    private let state: Locked<State>

    /// Starts a capture, replacing the contents of the file.
    ///
    /// - Parameters:
    ///   - path: A file name that ends in “.pcapng” or “.btsnoop”.
    ///   - limit: The size in octets at which a new file is started.
    ///   - clock: Converts the times of packets to the time of day. By default, the first packet gets the current time.
    ///   - failed: Called once if writing fails. Nothing is written after that.
    /// - Throws: The reason why the file cannot be created.
    package init(
        path: String,
        limit: Int = 64 << 20,
        clock: WallClock? = nil,
        failed: @escaping @Sendable (Failure) -> Void
    ) throws(Failure) {
        guard let format = CaptureFormat(path: path) else {
            throw Failure(path: path, reason: Self.unknownName)
        }
        self.path = path
        self.format = format
        self.limit = limit
        self.failed = failed
        state = Locked(State(clock: clock))
        try state.withLock { state throws(Failure) in try begin(&state) }
    }

    /// Returns the reason why a capture cannot be written to `path`; `nil` if it can be.
    ///
    /// The check does not create or change a file.
    package static func obstacle(at path: String) -> Failure? {
        guard CaptureFormat(path: path) != nil else { return Failure(path: path, reason: unknownName) }
        do throws(FileProblem) {
            let place = try TrustedPath(path)
            if faccessat(place.directory.raw, place.name, W_OK, AT_EACCESS) == 0 { return nil }
            if errno == ENOENT, faccessat(place.directory.raw, ".", W_OK | X_OK, AT_EACCESS) == 0 { return nil }
            throw FileProblem(.written, path, errno: errno)
        } catch {
            return Failure(path: path, error)
        }
    }

    private static let unknownName = "its name must end in .pcapng or .btsnoop"

    /// Writes a packet, with the comments that were added for it.
    ///
    /// Nothing is written after the first failure.
    package func write(_ record: PacketRecord) {
        let failure = state.withLock { state -> Failure? in
            do throws(Failure) {
                try write(record, &state)
                return nil
            } catch {
                state.descriptor = nil
                return error
            }
        }
        if let failure { failed(failure) }
    }

    /// Adds a comment, shortened by ``CaptureFormat/comment(_:)``, to the next packet.
    ///
    /// Ignored if the format has no comments.
    package func comment(_ text: String) {
        guard format == .pcapng else { return }
        let text = CaptureFormat.comment(text)
        state.withLock { state in
            guard state.descriptor != nil else { return }
            if state.comments.count >= Self.mostComments { state.comments.removeFirst() }
            state.comments.append(text)
        }
    }

    private func begin(_ state: inout State) throws(Failure) {
        do throws(FileProblem) {
            let place = try TrustedPath(path), file = try place.open(O_WRONLY | O_CREAT | O_APPEND)
            state.descriptor = file
            try restrictAccess(to: file.raw)
        } catch {
            throw Failure(path: path, error)
        }
        (state.size, state.interfaces) = (0, [])
        try append(format.header, &state)
    }

    /// Empties a regular file and makes it accessible only to its user.
    ///
    /// Other files, such as pipes, are left as they are.
    private func restrictAccess(to descriptor: Int32) throws(FileProblem) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        // A file with a second hard link may be needed by another program.
        guard facts.st_nlink <= 1 else { throw FileProblem(.written, path, errno: EMLINK) }
        guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else {
            throw FileProblem(.written, path, errno: errno)
        }
    }

    private func write(_ record: PacketRecord, _ state: inout State) throws(Failure) {
        guard state.descriptor != nil else { return }
        let clock = state.clock ?? WallClock(at: record.time)
        state.clock = clock
        if state.size >= limit {
            try rotate()
            try begin(&state)
        }
        let time = clock.time(of: record.time), number: Int
        let interface = Interface(source: record.source, isBefore1970: time < 0)
        if let known = state.interfaces.firstIndex(of: interface) {
            number = known
        } else {
            number = state.interfaces.count
            state.interfaces.append(interface)
            try append(format.introduction(of: record.source, before1970: interface.isBefore1970), &state)
        }
        let octets = format.record(
            record.bytes,
            record.direction,
            missing: record.missing,
            of: number,
            at: time,
            comments: state.comments
        )
        state.comments = []
        try append(octets, &state)
    }

    /// Adds the suffix “.1” to the name of the file, replacing any file that has the new name.
    private func rotate() throws(Failure) {
        do throws(FileProblem) {
            let place = try TrustedPath(path)
            guard place.rename(suffix: "", to: ".1") else { throw FileProblem(.written, path, errno: errno) }
        } catch {
            throw Failure(path: path, error)
        }
    }

    private func append(_ octets: [UInt8], _ state: inout State) throws(Failure) {
        guard let descriptor = state.descriptor else { return }
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { Glibc.write(descriptor.raw, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw failure() }
            written += max(0, count)
        }
        state.size += octets.count
    }

    private func failure() -> Failure { Failure(path: path, reason: String(cString: strerror(errno))) }
}
