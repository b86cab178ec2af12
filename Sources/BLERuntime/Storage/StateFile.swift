package import BLEHost
import BLEWire
import FoundationEssentials
import Glibc
package import Logging

/// What a host keeps from one run to the next, in a file that only its user can read.
///
/// The file holds the secret that peers' identifiers are derived from, and the peers that an app was connected to: who
/// has it knows whom the user met. It is always replaced as a whole, so that a reader finds the old one or the new one.
package final class StateFile: Sendable {
    private let path: String
    private let logger: Logger
    private let contents: Locked<StateDocument>

    /// Reads the state at `path`, or begins a new one there.
    ///
    /// A file that cannot be understood is put aside with a line in the log; if nothing can be written, the state lasts
    /// as long as the process.
    ///
    /// - Parameters:
    ///   - path: The file's path; directories that are missing are made.
    ///   - freshSecret: The secret of a state that begins.
    ///   - logger: Where to say that a file is of no use.
    package init(path: String, freshSecret: UInt128, logger: Logger = .coreBluetooth) {
        self.path = path
        self.logger = logger
        let fresh = StateDocument(secret: freshSecret)
        switch Self.read(path) {
        case .success(let document?):
            contents = Locked(document)
            return
        case .success(nil): break
        case .failure(let problem):
            logger.warning("What was known of Bluetooth peers is lost: \(path) \(problem). Starting afresh.")
            rename(path, path + ".unreadable")
        }
        contents = Locked(Self.create(path, fresh, logger: logger))
    }

    /// Where the state of this user's host is: `$XDG_STATE_HOME/corebluetooth/host.json`.
    ///
    /// - Parameter environment: Looks up a variable of the environment.
    /// - Returns: `nil` if the environment names no home.
    package static func standardPath(environment: (String) -> String?) -> String? {
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/corebluetooth/host.json"
        }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/corebluetooth/host.json"
    }

    /// What peers' identifiers are derived from.
    package var secret: UInt128 { contents.withLock { $0.secret } }

    /// The peers that an app was connected to, in the order in which they became known.
    package var peers: [PeerRecord] { contents.withLock { $0.peers } }

    /// Adds a peer or what is new about it, and writes the file.
    ///
    /// Another process of the same user may have written peers of its own meanwhile, which are kept.
    package func remember(_ record: PeerRecord) {
        contents.withLock { contents in
            if case .success(let document?) = Self.read(path), document.secret == contents.secret {
                contents = document
            }
            contents.remember(record)
            do throws(Problem) {
                try Self.write(contents, to: path)
            } catch {
                logger.warning("A Bluetooth peer cannot be remembered: \(path) \(error).")
            }
        }
    }
}

extension StateFile {
    /// Why the file is of no use, as the end of a sentence that begins with its path.
    private enum Problem: Error, CustomStringConvertible {
        case system(String, errno: Int32)
        case malformed

        var description: String {
            switch self {
            case .system(let action, let errno): "cannot be \(action): \(String(cString: strerror(errno)))"
            case .malformed: "is not what was written there"
            }
        }
    }

    /// More than any state takes, so that a file that is something else is not read to its end.
    private static let mostOctets = 4_194_304

    /// Reads the file; `nil` if there is none.
    private static func read(_ path: String) -> Result<StateDocument?, Problem> {
        let raw = open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return errno == ENOENT ? .success(nil) : .failure(.system("read", errno: errno)) }
        let file = Descriptor(raw)
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file.raw, &chunk, chunk.count)
            guard count >= 0 else { return .failure(.system("read", errno: errno)) }
            guard count > 0 else { break }
            octets.append(contentsOf: chunk[..<count])
            guard octets.count <= mostOctets else { return .failure(.malformed) }
        }
        guard let document = try? JSONDecoder().decode(StateDocument.self, from: Data(octets)) else {
            return .failure(.malformed)
        }
        return .success(document)
    }

    /// Begins the file with `fresh`, unless another process was faster, whose state is taken then.
    private static func create(_ path: String, _ fresh: StateDocument, logger: Logger) -> StateDocument {
        do throws(Problem) {
            try makeDirectories(above: path)
            let temporary = try writeTemporary(fresh, for: path)
            defer { unlink(temporary) }
            if link(temporary, path) == 0 { return fresh }
            if case .success(let document?) = read(path) { return document }
            throw .system("made", errno: errno)
        } catch {
            logger.warning("Bluetooth peers are known until this process ends: \(path) \(error).")
            return fresh
        }
    }

    private static func write(_ document: StateDocument, to path: String) throws(Problem) {
        let temporary = try writeTemporary(document, for: path)
        guard rename(temporary, path) == 0 else {
            unlink(temporary)
            throw .system("replaced", errno: errno)
        }
    }

    /// Writes a file beside `path` that only the user can read, and returns its path.
    private static func writeTemporary(_ document: StateDocument, for path: String) throws(Problem) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let data = try? encoder.encode(document) else { throw .malformed }
        let temporary = "\(path).\(getpid())"
        unlink(temporary)
        let raw = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard raw >= 0 else { throw .system("written", errno: errno) }
        let file = Descriptor(raw)
        let octets = [UInt8](data)
        guard Glibc.write(file.raw, octets, octets.count) == octets.count else {
            unlink(temporary)
            throw .system("written", errno: errno)
        }
        return temporary
    }

    private static func makeDirectories(above path: String) throws(Problem) {
        for (index, character) in zip(path.indices, path) where character == "/" && index != path.startIndex {
            guard mkdir(String(path[..<index]), 0o700) == 0 || errno == EEXIST || errno == EISDIR else {
                throw .system("made", errno: errno)
            }
        }
    }
}
