import Glibc

/// The abstract Unix socket on which a host can be monitored.
///
/// It ends with its process and leaves nothing behind.
///
/// A monitor receives a pcapng capture from the moment it connects.
package struct HostSocket: Hashable, Sendable {
    /// The common beginning of the names.
    private static let prefix = "corebluetooth-linux/monitor/"
    /// The possible host numbers in a process.
    static let numbers = 1...64
    /// The maximum number of hosts to find.
    private static let mostFound = 256
    /// The number that the kernel reports for users without a number in this namespace.
    private static let nobody: UInt32 = 65_534

    /// The process number, in its own namespace.
    package let process: Int32
    /// The number of the host in its process.
    package let number: Int

    package init(process: Int32, number: Int) {
        self.process = process
        self.number = number
    }

    /// Parses the name of a socket; returns `nil` for other sockets.
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

    /// The sockets with a listening host, sorted by process.
    package static var listening: [Self] { listening(in: SystemFile.text(of: "/proc/net/unix", most: 16 << 20)) }

    /// Returns the sockets with a listening host in the kernel's table of Unix sockets.
    package static func listening(in table: String) -> [Self] {
        // Number, references, protocol, flags, type, state, inode, name.
        let found = table.utf8.split(separator: UInt8(ascii: "\n")).lazy.compactMap { line -> Self? in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
            guard fields.count == 8, fields[3].elementsEqual("00010000".utf8), fields[7].first == UInt8(ascii: "@")
            else { return nil }
            return Self(name: String(decoding: fields[7].dropFirst(), as: UTF8.self))
        }
        return found.prefix(mostFound).sorted { ($0.process, $0.number) < ($1.process, $1.number) }
    }

    /// Returns whether a host of user `owner` is shown to user `peer`: to the same user and to root.
    package static func shows(to peer: UInt32, owner: UInt32) -> Bool {
        peer == 0 || (peer == owner && peer != nobody)
    }
}
