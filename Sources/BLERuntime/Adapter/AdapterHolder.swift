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
    /// Programs whose files below `root` cannot be read are missing. The kernel does not report which adapter a socket
    /// belongs to.
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
