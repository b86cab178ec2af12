import BLEWire
import Glibc
import Testing

@testable import BLERuntime

@Suite("Socket input", .timeLimit(.minutes(30)))
struct SocketInputTests {
    /// Both ends of a connection of which nobody else knows.
    struct Connection {
        let near: FileDescriptor
        let far: FileDescriptor

        /// Over TCP, of the computer with itself, or between Unix sockets.
        init(isTCP: Bool) throws {
            var ends: [Int32] = [0, 0]
            if isTCP {
                let listener = FileDescriptor(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
                var address = sockaddr_in(), length = socklen_t(MemoryLayout<sockaddr_in>.size)
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                ends[0] = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                let near = ends[0]
                ends[1] = try withUnsafeMutablePointer(to: &address) { pointer in
                    try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        try #require(bind(listener.raw, pointer, length) == 0)
                        try #require(listen(listener.raw, 1) == 0)
                        try #require(getsockname(listener.raw, pointer, &length) == 0)
                        try #require(connect(near, pointer, length) == 0)
                        return accept(listener.raw, nil, nil)
                    }
                }
                var on: Int32 = 1
                for end in ends { setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4) }
            } else {
                try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            }
            for end in ends { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
            (near, far) = (FileDescriptor(ends[0]), FileDescriptor(ends[1]))
        }

        /// Writes what the system has room for, and says how much that was.
        @discardableResult func say(_ octets: [UInt8]) -> Int {
            send(far.raw, octets, octets.count, Int32(MSG_NOSIGNAL))
        }
    }

    @Test("Each octet comes once, however data is cut into writes and reads", arguments: [false, true], 0..<16)
    func once(isTCP: Bool, seed: UInt64) throws {
        let connection = try Connection(isTCP: isTCP)
        var intake = SocketInput(of: connection.near), dice = SeededGenerator(seed: seed)
        var said: [UInt8] = [], heard: [UInt8] = []
        for _ in 0..<400 {
            if dice.next() % 2 == 0 {
                let octets = (0..<Int(dice.next() % 300 + 1)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
                said += octets.prefix(max(0, connection.say(octets)))
            } else if case .octets(let range) = intake.take() {
                heard += intake.buffer[range]
            }
        }
        while heard.count < said.count {
            if case .octets(let range) = intake.take() { heard += intake.buffer[range] }
        }
        #expect(heard == said)
        #expect(intake.take() == .nothing)
    }

    @Test("The end of a connection is reported after the last octet", arguments: [false, true])
    func end(isTCP: Bool) throws {
        let connection = try Connection(isTCP: isTCP)
        var intake = SocketInput(of: connection.near)
        connection.say([1, 2, 3])
        shutdown(connection.far.raw, Int32(SHUT_WR))
        #expect(Self.awaited { intake.take() } == .octets(0..<3))
        #expect(Self.awaited { intake.take() } == .ended(errno: 0))
        #expect(Self.awaited { intake.take() } == .ended(errno: 0))
    }

    private static func awaited(_ step: () -> SocketInput.Step) -> SocketInput.Step {
        while true {
            let step = step()
            if step != .nothing { return step }
        }
    }

    @Test("The buffer grows with the amount of data, up to 65536 octets")
    func growth() throws {
        let connection = try Connection(isTCP: false)
        var intake = SocketInput(of: connection.near), sizes: [Int] = []
        for _ in 0..<4 {
            connection.say([UInt8](repeating: 0, count: 100_000))
            guard case .octets(let range) = intake.take() else { break }
            sizes.append(range.count)
            #expect(intake.wasFilled)
        }
        #expect(sizes == [4_096, 16_384, 65_536, 65_536])
    }
}
