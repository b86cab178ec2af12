import Glibc

/// The abstract Unix socket through which a host can be monitored.
///
/// A monitor that connects receives a pcapng capture of all packets, requests and events from then on. The socket
/// disappears with its process, and leaves no file behind.
package struct HostSocket: Hashable, Sendable {
    /// The common prefix of the sockets' names.
    private static let prefix = "corebluetooth-linux/monitor/"
    /// The possible host numbers in a process.
    static let numbers = 1...64
    /// The maximum number of hosts to find.
    private static let mostFound = 256
    /// The user ID that the kernel reports for users that this user namespace does not know.
    private static let unmappedUser: UInt32 = 65_534

    /// The process ID of the host's program, in the program's own PID namespace.
    package let process: Int32
    /// The number of the host within its process.
    package let number: Int

    package init(process: Int32, number: Int) {
        self.process = process
        self.number = number
    }

    /// Parses the name of a host's socket; returns `nil` for any other name.
    package init?(name: some StringProtocol) {
        guard name.hasPrefix(Self.prefix) else { return nil }
        let parts = name.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let process = Int32(parts[0]), let number = Int(parts[1]), process > 0,
            Self.numbers.contains(number)
        else { return nil }
        self.init(process: process, number: number)
        guard self.name == name else { return nil }
    }

    package var name: String { "\(Self.prefix)\(process)/\(number)" }
    package var address: SocketAddress { .abstract(name: name) }

    /// The sockets of all hosts that can be monitored, sorted by process and number.
    package static var listening: [Self] { listening(in: SystemFile.text(of: "/proc/net/unix", most: 16 << 20)) }

    /// Returns the sockets of hosts in the kernel's table of Unix sockets.
    package static func listening(in table: String) -> [Self] {
        // Columns: number, references, protocol, flags (this value means listening), type, state, inode, name.
        let found = table.utf8.split(separator: UInt8(ascii: "\n")).lazy.compactMap { line -> Self? in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
            guard fields.count == 8, fields[3].elementsEqual("00010000".utf8), fields[7].first == UInt8(ascii: "@")
            else { return nil }
            return Self(name: String(decoding: fields[7].dropFirst(), as: UTF8.self))
        }
        return found.prefix(mostFound).sorted { ($0.process, $0.number) < ($1.process, $1.number) }
    }

    /// Returns whether user `peer` may monitor the hosts of user `owner`.
    ///
    /// Only `owner` and root may do so.
    package static func shows(to peer: UInt32, owner: UInt32) -> Bool {
        peer == 0 || (peer == owner && peer != unmappedUser)
    }
}
