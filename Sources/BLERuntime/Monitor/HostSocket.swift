import Glibc

/// Where a host lets itself be watched: an abstract Unix socket, which ends with its process and leaves nothing behind.
///
/// It sends whoever may watch a capture in pcapng, from the moment at which he connects.
package struct HostSocket: Hashable, Sendable {
    /// What the names of all of them begin with.
    private static let prefix = "corebluetooth-linux/monitor/"
    /// How many hosts of a process may be watched.
    static let numbers = 1...64
    /// How many hosts are looked for at most.
    private static let mostFound = 256
    /// Who the kernel names in place of users that it cannot name here.
    private static let nobody: UInt32 = 65_534

    /// The number of the process, as that process sees it.
    package let process: Int32
    /// Which of the process's hosts it is.
    package let number: Int

    package init(process: Int32, number: Int) {
        self.process = process
        self.number = number
    }

    /// Reads the name of a socket; `nil` if it is that of something else.
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

    /// Those at which a host listens, in the order of their processes.
    package static var listening: [Self] { listening(in: SystemFile.text(of: "/proc/net/unix", most: 16 << 20)) }

    /// Those at which a host listens, out of the kernel's table of Unix sockets.
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

    /// Whether a host of the user `owner` is shown to the user `peer`: to himself and to root.
    package static func shows(to peer: UInt32, owner: UInt32) -> Bool {
        peer == 0 || (peer == owner && peer != nobody)
    }
}
