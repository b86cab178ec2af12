/// A program that has a socket of the kernel's HCI, and so may be the one that uses an adapter.
package struct AdapterHolder: Equatable, Sendable, CustomStringConvertible {
    package let process: Int32
    package let name: String

    package init(process: Int32, name: String) {
        self.process = process
        self.name = name
    }

    /// Whether it is the daemon of BlueZ, which looks after all adapters that nobody has for himself.
    package var isBlueZ: Bool { name == "bluetoothd" }

    package var description: String { "\(name) (process \(process))" }

    /// The programs that have such a socket, as far as the files below `root` may be read, but for process `own`.
    ///
    /// The kernel does not tell which adapter a socket is for.
    static func all(below root: String, but own: Int32) -> [Self] {
        let sockets = Set(socketNumbers(in: SystemFile.text(of: root + "/proc/net/hci")))
        if sockets.isEmpty { return [] }
        return RunningProgram.all(below: root, but: own) { target in sockets.contains { target == "socket:[\($0)]" } }
            .map { Self(process: $0.process, name: $0.name) }
    }

    /// The numbers of the sockets in a table with the columns sk, RefCnt, Rmem, Wmem, User, Inode, Parent.
    private static func socketNumbers(in table: String) -> [UInt64] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            return columns.count >= 6 ? UInt64(columns[5]) : nil
        }
    }
}
