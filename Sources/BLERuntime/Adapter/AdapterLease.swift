import BLEWire
import Glibc

/// The exclusive use of an adapter, until the lease is released.
///
/// If BlueZ was using the adapter before, releasing the lease switches the adapter on again for BlueZ. The lease is
/// also released when the process exits.
final class AdapterLease: Sendable {
    private struct Weak: Sendable { weak let lease: AdapterLease? }

    /// The leases that must be released when the process exits.
    private static let open = Locked<[Weak]>([])
    private static let atEnd: Void = {
        atexit { for entry in AdapterLease.open.withLock({ $0 }) { entry.lease?.release() } }
        return ()
    }()

    let descriptor: FileDescriptor
    private let index: AdapterIndex
    private let client: Locked<ManagementClient?>
    private let isReleased = Locked(false)

    /// Creates a lease of an adapter whose open user channel is `descriptor`.
    ///
    /// On release, `client` switches the adapter on again; if `client` is `nil`, the adapter stays off.
    init(_ index: AdapterIndex, _ descriptor: FileDescriptor, restoring client: ManagementClient?) {
        self.index = index
        self.descriptor = descriptor
        self.client = Locked(client)
        guard client != nil else { return }
        Self.open.withLock { list in list = list.filter { $0.lease != nil } + [Weak(lease: self)] }
        Self.atEnd
    }

    deinit { release() }

    /// Releases the adapter.
    ///
    /// Later calls have no effect.
    ///
    /// Other code may still hold the file descriptor, so it is not closed: it is made to refer to an unconnected socket
    /// instead.
    func release() {
        let wasReleased = isReleased.withLock { released in
            defer { released = true }
            return released
        }
        guard !wasReleased else { return }
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let nobody = FileDescriptor(socket(AF_UNIX, kind, 0))
        if dup2(nobody.raw, descriptor.raw) >= 0 { _ = fcntl(descriptor.raw, F_SETFD, FD_CLOEXEC) }
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        try? client?.setPowered(true, index)
    }
}

/// A program that has an HCI socket open and may therefore be using an adapter.
package struct AdapterHolder: Equatable, Sendable, CustomStringConvertible {
    package let process: Int32
    package let name: String

    package init(process: Int32, name: String) {
        self.process = process
        self.name = name
    }

    /// True for BlueZ's daemon, which manages all adapters that no other program has taken.
    package var isBlueZ: Bool { name == "bluetoothd" }

    package var description: String { "\(name) (process \(process))" }

    /// Returns the programs that have an HCI socket open, except the process `own`.
    ///
    /// `root` is the directory of the kernel's virtual files; programs whose files there cannot be read are left out.
    /// The kernel does not report which adapter a socket belongs to.
    static func all(below root: String, but own: Int32) -> [Self] {
        let sockets = Set(socketNumbers(in: SystemFile.text(of: root + "/proc/net/hci")))
        if sockets.isEmpty { return [] }
        return RunningProgram.all(below: root, but: own) { target in sockets.contains { target == "socket:[\($0)]" } }
            .map { Self(process: $0.process, name: $0.name) }
    }

    /// Returns the inode numbers of the sockets in a table with the columns sk, RefCnt, Rmem, Wmem, User, Inode,
    /// Parent.
    private static func socketNumbers(in table: String) -> [UInt64] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            return columns.count >= 6 ? UInt64(columns[5]) : nil
        }
    }
}

/// A running program, with its process ID.
package struct RunningProgram: Equatable, Sendable, CustomStringConvertible {
    package let process: Int32
    package let name: String

    package init(process: Int32, name: String) {
        self.process = process
        self.name = name
    }

    package var description: String { "\(name) (process \(process))" }

    /// Returns the running programs with an open file whose path satisfies `isMeant`, in ascending order of process ID.
    ///
    /// The process `own` is left out, and so are programs whose files below `root` cannot be read.
    static func all(below root: String, but own: Int32, having isMeant: (String) -> Bool) -> [Self] {
        SystemFile.names(in: root + "/proc").compactMap { Int32($0) }.filter { $0 != own }.sorted()
            .compactMap { process in
                let folder = "\(root)/proc/\(process)"
                let isOne = SystemFile.names(in: folder + "/fd").contains { file in
                    SystemFile.target(of: "\(folder)/fd/\(file)").map(isMeant) ?? false
                }
                guard isOne, let name = SystemFile.line(of: folder + "/comm") else { return nil }
                return Self(process: process, name: name)
            }
    }
}
