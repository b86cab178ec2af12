package import BLEHost
import BLEWire
import Dispatch
package import Logging

/// The stored state of a host, in a file that only its user can read.
///
/// It contains the secret from which peer identifiers are derived, and the peers that apps have connected to, so it
/// reveals which devices the user has met. All processes of a user share the file. Each process writes only its own
/// changes, on its own queue and at most once a second.
package final class StateFile: Sendable {
    /// The maximum size of the file, in octets; several times the size of the largest state.
    static let mostOctets = 1 << 24

    private let file: PrivateFile
    private let logger: Logger
    private let queue = DispatchQueue(label: "corebluetooth.state", qos: .utility)
    private let clock = MonotonicClock()
    private let draft: Locked<StateDraft>

    /// Reads the state at `path`, or creates it.
    ///
    /// If parts of the file are unreadable, a copy is kept beside it, and a message is logged. If the file cannot be
    /// read or written at all, it is left as it is, and the state is lost when the process ends.
    ///
    /// - Parameters:
    ///   - path: The path of the file; missing directories are created.
    ///   - freshSecret: The secret from which peer identifiers are derived, for a file that contains none.
    ///   - logger: The logger for problems with the file.
    package init(path: String, freshSecret: UInt128, logger: Logger = .coreBluetooth) {
        file = PrivateFile(path: path, mostOctets: Self.mostOctets)
        self.logger = logger
        var document = StateDocument(secret: freshSecret), problem: FileProblem?
        do throws(FileProblem) { try Self.open(file, &document, logger) } catch {
            Self.log(error, logger)
            problem = error
        }
        draft = Locked(StateDraft(document, problem: problem))
    }

    /// Returns the path of the user's state: `$XDG_STATE_HOME/corebluetooth/host.json`.
    ///
    /// If `XDG_STATE_HOME` is not an absolute path, `~/.local/state` is used instead.
    ///
    /// - Parameter environment: Returns the value of an environment variable.
    /// - Returns: `nil` if neither `XDG_STATE_HOME` nor `HOME` is an absolute path.
    package static func standardPath(environment: (String) -> String?) -> String? {
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/corebluetooth/host.json"
        }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/corebluetooth/host.json"
    }

    /// Returns the directory for the state of hosts on virtual radios, beside the state of the user's host; `nil` if
    /// that state has no path.
    package static func radioFolder(environment: (String) -> String?) -> String? {
        standardPath(environment: environment).map { path in
            path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex) + "/radios"
        }
    }

    /// The secret from which the identifiers of peers are derived.
    package var secret: UInt128 { draft.withLock { $0.document.secret } }

    /// The peers that apps have connected to, most recently used last.
    package var peers: [PeerRecord] { draft.withLock { $0.document.peers.all } }

    /// Records a new or changed peer.
    ///
    /// The file is written in the background: soon if the peer is new or its bonds have changed, otherwise within a
    /// minute.
    package func remember(_ record: PeerRecord) {
        let next = draft.withLock { $0.remember(record, at: clock.now) }
        if case .wake(let instant) = next { write(at: instant) }
    }

    /// Writes all changes immediately.
    ///
    /// Call this before the process ends.
    package func flush() { queue.sync { write(isLast: true) } }

    private func write(at instant: Instant) {
        let nanoseconds = max(0, instant.nanoseconds(since: clock.now))
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { self.write(isLast: false) }
    }

    /// Writes the changes if a write is due; with `isLast`, writes them immediately.
    ///
    /// Called on ``queue``.
    private func write(isLast: Bool) {
        guard let changes = draft.withLock({ $0.begin(at: clock.now, isLast: isLast) }) else { return }
        let next: WritePacing.OnChange
        do throws(FileProblem) {
            let stored = try store(changes)
            next = draft.withLock { $0.stored(stored, at: clock.now) }
        } catch {
            let outcome = draft.withLock { $0.failed(error, changes, at: clock.now) }
            if outcome.isNews { Self.log(error, logger) }
            next = outcome.next
        }
        if case .wake(let instant) = next { write(at: instant) }
    }

    /// Applies changes to the contents of the file, and returns the new contents.
    private func store(_ changes: [PeerChange]) throws(FileProblem) -> StateDocument {
        let known = draft.withLock { $0.document }
        return try file.locked { () throws(FileProblem) in
            var document = try Self.read(file, known.secret, logger) ?? known
            for change in changes where document.apply(change) == .refused {
                logger.warning(
                    "\(change.after.address) is not stored: \(file.path) is full. Remove bonds (“ble bonds remove”)."
                )
            }
            try file.replace(with: StateText(document).octets)
            return document
        }
    }

    /// Reads the file into `document`.
    ///
    /// Writes `document` to the file if there is none, and repairs the file if parts are unreadable.
    private static func open(
        _ file: PrivateFile,
        _ document: inout StateDocument,
        _ logger: Logger
    ) throws(FileProblem) {
        if let octets = try file.read(), let text = try? StateText(reading: octets) {
            document = text.document(freshSecret: document.secret)
            guard !text.losses.isEmpty else { return }
        }
        try file.locked { () throws(FileProblem) in
            document = try read(file, document.secret, logger) ?? document
            try file.replace(with: StateText(document).octets)
        }
    }

    /// Reads the file; returns `nil` if there is no file, or nothing in it could be read.
    ///
    /// If parts are unreadable, the file is preserved under another name.
    ///
    /// - Throws: The reason why the file cannot be used, for example that a later version of this package wrote it.
    private static func read(
        _ file: PrivateFile,
        _ secret: UInt128,
        _ logger: Logger
    ) throws(FileProblem) -> StateDocument? {
        guard let octets = try file.read() else { return nil }
        switch Result(catching: { () throws(StateText.Unreadable) in try StateText(reading: octets) }) {
        case .success(let text):
            if !text.losses.isEmpty {
                let aside = try file.preserve(), more = text.losses.count > 5 ? ", …" : ""
                let places = text.losses.prefix(5).joined(separator: ", ") + more
                logger.warning(
                    """
                    Dropped invalid values from \(file.path) (\(text.losses.count) in all: \(places)). The old file is \
                    kept as \(aside).
                    """
                )
            }
            return text.document(freshSecret: secret)
        case .failure(.malformed):
            let aside = try file.preserve()
            logger.warning(
                """
                \(file.path) is damaged and was replaced by an empty file: bonds and known Bluetooth peers are \
                lost. The damaged file is kept as \(aside).
                """
            )
            return nil
        case .failure(.newer(let version)): throw FileProblem(.read, file.path, .newer(version: version))
        }
    }

    private static func log(_ problem: FileProblem, _ logger: Logger) {
        logger.warning("Bonds and known Bluetooth peers will be lost when this process ends. \(problem)")
    }
}
