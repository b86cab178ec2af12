package import BLEHost
import BLEWire
import Glibc
import LinuxCalls
package import Logging

/// The stored state of hosts on virtual radios: one file for each controller in each run of a simulated world.
///
/// The process cannot know when a run is over. So the number of files is limited, and a new file replaces the one that
/// was written least recently. A file is created only when there is something to store.
package final class RadioStateFiles: Sendable {
    /// The maximum number of files.
    package static let most = 256
    private static let ending = ".json"

    private let folder: String
    private let secret: UInt128
    private let logger: Logger
    private let open = Locked<[VirtualRadio: StateFile]>([:])

    /// Creates the store.
    ///
    /// - Parameters:
    ///   - folder: The directory of the files, which is created together with the first file.
    ///   - secret: The secret from which identifiers of peers are derived; it is stored in new files.
    ///   - logger: The logger for problems with the files.
    package init(folder: String, secret: UInt128, logger: Logger = .coreBluetooth) {
        self.folder = folder
        self.secret = secret
        self.logger = logger
    }

    /// Returns the peers that are stored for a radio.
    package func peers(on radio: VirtualRadio) -> [PeerRecord] {
        access(path(of: radio), F_OK) == 0 ? file(of: radio).peers : []
    }

    /// Records a new or changed peer of a radio.
    ///
    /// The file is written in the background: soon if the peer is new or its bonds have changed, otherwise within a
    /// minute.
    package func remember(_ record: PeerRecord, on radio: VirtualRadio) { file(of: radio).remember(record) }

    /// Writes all changes immediately.
    ///
    /// Call this before the process ends.
    package func flush() { open.withLock { Array($0.values) }.forEach { $0.flush() } }

    private func file(of radio: VirtualRadio) -> StateFile {
        open.withLock { files in
            if let file = files[radio] { return file }
            let path = path(of: radio)
            if access(path, F_OK) != 0 { makeRoom() }
            let file = StateFile(path: path, freshSecret: secret, logger: logger)
            files[radio] = file
            return file
        }
    }

    private func path(of radio: VirtualRadio) -> String {
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(folder)/\(digits(radio.address.value, 12))-\(digits(radio.run, 4))\(Self.ending)"
    }

    /// Removes the least recently written files until there is room for one more.
    private func makeRoom() {
        let files = SystemFile.names(in: folder).filter { $0.hasSuffix(Self.ending) }.map { name in
            var status = stat()
            stat(folder + "/" + name, &status)
            return (path: folder + "/" + name, seconds: status.st_mtim.tv_sec)
        }
        for file in files.sorted(by: { $0.seconds < $1.seconds }).prefix(max(0, files.count - Self.most + 1)) {
            unlink(file.path)
            unlink(file.path + ".lock")
        }
    }
}
