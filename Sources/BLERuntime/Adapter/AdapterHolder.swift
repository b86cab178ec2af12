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
        return SystemFile.names(in: root + "/proc").compactMap { Int32($0) }.filter { $0 != own }.sorted()
            .compactMap { process in
                let folder = "\(root)/proc/\(process)"
                let isHolder = SystemFile.names(in: folder + "/fd").contains { file in
                    guard let target = SystemFile.target(of: "\(folder)/fd/\(file)") else { return false }
                    return sockets.contains { target == "socket:[\($0)]" }
                }
                guard isHolder, let name = SystemFile.line(of: folder + "/comm") else { return nil }
                return Self(process: process, name: name)
            }
    }

    /// The numbers of the sockets in a table with the columns sk, RefCnt, Rmem, Wmem, User, Inode, Parent.
    private static func socketNumbers(in table: String) -> [UInt64] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            return columns.count >= 6 ? UInt64(columns[5]) : nil
        }
    }
}
