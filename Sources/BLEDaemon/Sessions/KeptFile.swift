import BLERuntime
import BLESession
import BLEWire
import Dispatch
import Logging

/// The file in which sessions outlive the daemon: replaced as a whole, off the thread of the loop, the latest last.
package final class KeptFile: Sendable {
    /// What the file begins with; the last octet is the version.
    private static let mark: [UInt8] = Array("bled sessions ".utf8) + [1]

    private let file: PrivateFile
    private let queue = DispatchQueue(label: "bled.file")
    private let latest = Locked<[KeptRecord]?>(nil)
    private let hasComplained = Locked(false)

    package init(path: String) { file = PrivateFile(path: path, mostOctets: 64 << 20) }

    /// What is in the file; what cannot be read of it is passed over.
    func read() -> [KeptRecord] {
        let octets: [UInt8]
        do throws(FileProblem) {
            octets = try file.read() ?? []
        } catch {
            Logger.coreBluetooth.error("Sessions of apps are not restored. \(error)")
            return []
        }
        if let records = Self.records(in: octets) { return records }
        if !octets.isEmpty { Logger.coreBluetooth.error("\(file.path) holds no sessions of apps, and is replaced.") }
        return []
    }

    /// The sessions that a file with these octets tells of; `nil` if it is another file.
    package static func records(in octets: [UInt8]) -> [KeptRecord]? {
        guard octets.starts(with: mark) else { return nil }
        var reader = FrameReader(), records: [KeptRecord] = []
        try? reader.receive(Array(octets.dropFirst(mark.count)).span) { octets in
            if let record = try? KeptRecord(decoding: octets) { records.append(record) }
        }
        return records
    }

    /// Has the file hold these sessions soon.
    func write(_ records: [KeptRecord]) {
        let isFirst = latest.withLock { latest in
            defer { latest = records }
            return latest == nil
        }
        if isFirst { queue.async { self.writeLatest() } }
    }

    /// Returns when all is written.
    package func flush() { queue.sync {} }

    private func writeLatest() {
        guard let records = latest.withLock({ $0.take() }) else { return }
        // Without sessions it is empty, by which the service manager knows that nobody waits for the daemon.
        var writer = FrameWriter(), octets = records.isEmpty ? [] : Self.mark
        for record in records { _ = writer.write(record) }
        writer.take { octets.append(copying: $0) }
        do throws(FileProblem) {
            let all = octets
            try file.locked { () throws(FileProblem) in try file.replace(with: all) }
            hasComplained.withLock { $0 = false }
        } catch {
            let isNew = hasComplained.withLock { said in
                defer { said = true }
                return !said
            }
            if isNew { Logger.coreBluetooth.error("Sessions of apps would not outlive the daemon. \(error)") }
        }
    }
}
