import BLERuntime
import BLESession
import BLEWire
import Dispatch
import Logging

/// The file that preserves sessions when the daemon stops.
///
/// Each write replaces the whole file, and happens on the file's own dispatch queue. Sessions that are too large are
/// left out, so that the others can be stored.
///
/// Up to four writes may follow each other immediately; further ones happen at most once a second. ``flush()`` writes
/// the changes that are left.
package final class KeptFile: Sendable {
    /// The first octets of the file.
    ///
    /// The last of them is the version.
    private static let magic: [UInt8] = Array("bled sessions ".utf8) + [1]

    /// The maximum length of a session in the file, in octets.
    ///
    /// A longer one is left out, and an error is logged.
    static let mostOctetsOfRecord = 262_144
    /// The maximum length of the file, in octets.
    private static let mostOctets = magic.count + KeptSessions.most * (FrameReader.headerOctets + mostOctetsOfRecord)

    private let file: PrivateFile
    private struct State {
        var pacing = WritePacing(burst: 4)
        /// The sessions that the file is to contain.
        var latest: [KeptRecord] = []
    }

    private let queue = DispatchQueue(label: "bled.file")
    private let clock = MonotonicClock()
    private let state = Locked(State())
    private let hasComplained = Locked(false)
    /// True if the last write has left out sessions.
    private let leavesOut = Locked(false)

    package init(path: String) { file = PrivateFile(path: path, mostOctets: Self.mostOctets) }

    /// Reads the sessions in the file.
    ///
    /// Invalid records are skipped. A file that cannot be read, or is of another kind, counts as empty.
    func read() -> [KeptRecord] {
        let octets: [UInt8]
        do throws(FileProblem) {
            octets = try file.read() ?? []
        } catch {
            Logger.coreBluetooth.error("Cannot restore app sessions. \(error)")
            return []
        }
        if let records = Self.records(in: octets) { return records }
        if !octets.isEmpty {
            Logger.coreBluetooth.error("\(file.path) is invalid and will be replaced; its app sessions are lost.")
        }
        return []
    }

    /// Parses the records in a file; returns `nil` if the file is of another kind.
    package static func records(in octets: [UInt8]) -> [KeptRecord]? {
        guard octets.starts(with: magic) else { return nil }
        var reader = FrameReader(), records: [KeptRecord] = []
        try? reader.receive(Array(octets.dropFirst(magic.count)).span) { octets in
            if let record = try? KeptRecord(decoding: octets) { records.append(record) }
        }
        return records
    }

    /// Schedules these sessions to be written to the file, replacing its contents.
    func write(_ records: [KeptRecord]) {
        let next = state.withLock { state in
            state.latest = records
            return state.pacing.changed(.soon, at: clock.now)
        }
        schedule(next)
    }

    /// Writes changes that have not been written, and waits until that is done.
    package func flush() { queue.sync { writeIfDue(isLast: true) } }

    private func schedule(_ next: WritePacing.OnChange) {
        guard case .wake(let instant) = next else { return }
        let nanoseconds = max(0, instant.nanoseconds(since: clock.now))
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { self.writeIfDue(isLast: false) }
    }

    /// Writes the sessions if a write is due or, if `isLast` is true, if there are unwritten changes.
    ///
    /// Called on the queue.
    private func writeIfDue(isLast: Bool) {
        let records = state.withLock { state in
            state.pacing.begin(at: clock.now, isLast: isLast) == .write ? state.latest : nil
        }
        guard let records else { return }
        let isWritten = write(octetsOf: records)
        schedule(state.withLock { $0.pacing.ended(isWritten: isWritten, at: clock.now) })
    }

    /// Returns the contents of the file.
    ///
    /// Without sessions the file is empty, which shows the service manager that no app waits for the daemon.
    private func contents(_ records: [KeptRecord]) -> [UInt8] {
        var octets: [UInt8] = [], leftOut: AppKey?
        for record in records {
            var writer = FrameWriter()
            if writer.write(record), writer.count <= FrameReader.headerOctets + Self.mostOctetsOfRecord {
                writer.take { octets.append(copying: $0) }
            } else {
                leftOut = record.key
            }
        }
        let isNew = leavesOut.withLock { known in
            defer { known = leftOut != nil }
            return !known
        }
        if let leftOut, isNew {
            let limit = "longer than \(Self.mostOctetsOfRecord) octets"
            Logger.coreBluetooth.error(
                "An app session of user \(leftOut.user) is \(limit), so it is not stored and ends with the daemon."
            )
        }
        return octets.isEmpty ? [] : Self.magic + octets
    }

    private func write(octetsOf records: [KeptRecord]) -> Bool {
        let all = contents(records)
        do throws(FileProblem) {
            try file.locked { () throws(FileProblem) in try file.replace(with: all) }
            hasComplained.withLock { $0 = false }
            return true
        } catch {
            let isNew = hasComplained.withLock { said in
                defer { said = true }
                return !said
            }
            if isNew { Logger.coreBluetooth.error("App sessions will be lost when the daemon ends. \(error)") }
            return false
        }
    }
}
