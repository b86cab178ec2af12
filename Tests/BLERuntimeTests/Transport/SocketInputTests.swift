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

        func hear() -> Int {
            var octets = [UInt8](repeating: 0, count: 1_024)
            return recv(far.raw, &octets, octets.count, 0)
        }

        /// How many octets the near end has not taken, of the first 4 096.
        var untaken: Int {
            var octets = [UInt8](repeating: 0, count: 4_096)
            return max(0, recv(near.raw, &octets, octets.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
        }

        /// How many segments of TCP the near end has sent.
        var segments: Int {
            // struct tcp_info: tcpi_segs_out.
            var facts = [UInt32](repeating: 0, count: 35), size = socklen_t(4 * facts.count)
            guard getsockopt(near.raw, Int32(IPPROTO_TCP), TCP_INFO, &facts, &size) == 0 else { return 0 }
            return Int(facts[34])
        }
    }

    @Test("Each octet comes once, in whatever order data is peeked at and taken", arguments: [false, true], 0..<16)
    func once(isTCP: Bool, seed: UInt64) throws {
        let connection = try Connection(isTCP: isTCP)
        var intake = SocketInput(of: connection.near), dice = SeededGenerator(seed: seed)
        var said: [UInt8] = [], heard: [UInt8] = []
        for _ in 0..<400 {
            var step = SocketInput.Step.nothing
            switch dice.next() % 5 {
            case 0, 1:
                let octets = (0..<Int(dice.next() % 300 + 1)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
                said += octets.prefix(max(0, connection.say(octets)))
            case 2: step = intake.take()
            case 3: step = intake.peek()
            case 4 where dice.next() % 2 == 0: intake.consumePeeked()
            default: dice.next() % 2 == 0 ? intake.consumeIfMany() : intake.consumeIfTooMany()
            }
            if case .octets(let range) = step { heard += intake.buffer[range] }
        }
        while heard.count < said.count {
            if case .octets(let range) = intake.peek() { heard += intake.buffer[range] }
            intake.consumePeeked()
        }
        #expect(heard == said)
        #expect(intake.take() == .nothing)
    }

    @Test(
        "More than 160 octets are taken after a response, and otherwise only more than 512",
        arguments: [(160, true, true), (161, true, false), (512, false, true), (513, false, false)]
    )
    func keeping(count: Int, hasAnswered: Bool, keeps: Bool) throws {
        let connection = try Connection(isTCP: true)
        var intake = SocketInput(of: connection.near), seen = 0
        connection.say([UInt8](repeating: 7, count: count))
        while seen < count { if case .octets(let range) = intake.peek() { seen += range.count } }
        if hasAnswered { intake.consumeIfMany() } else { intake.consumeIfTooMany() }
        #expect(connection.untaken == (keeps ? count : 0))
    }

    @Test("The end of a connection is reported after the last octet", arguments: [false, true], [false, true])
    func end(isTCP: Bool, looks: Bool) throws {
        let connection = try Connection(isTCP: isTCP)
        var intake = SocketInput(of: connection.near)
        connection.say([1, 2, 3])
        shutdown(connection.far.raw, Int32(SHUT_WR))
        #expect(Self.awaited { intake.peek() } == .octets(0..<3))
        if isTCP { #expect(intake.peek() == .nothing) }
        intake.consumePeeked()
        #expect(Self.awaited { looks ? intake.peek() : intake.take() } == .ended(errno: 0))
        #expect(Self.awaited { looks ? intake.peek() : intake.take() } == .ended(errno: 0))
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

    @Test("A response also acknowledges its request, so there are hardly more TCP segments than responses")
    func acknowledgement() throws {
        func segments(looking: Bool) throws -> Int {
            let connection = try Connection(isTCP: true), question = [UInt8](repeating: 1, count: 30)
            var intake = SocketInput(of: connection.near)
            let before = connection.segments
            for _ in 0..<200 {
                // What a controller says of the packet before, and then the question.
                for part in [8, 30] {
                    connection.say([UInt8](question.prefix(part)))
                    _ = Self.awaited { looking ? intake.peek() : intake.take() }
                }
                #expect(send(connection.near.raw, question, question.count, Int32(MSG_NOSIGNAL)) == question.count)
                intake.consumePeeked()
                while connection.hear() < 0 {}
            }
            return connection.segments - before
        }
        #expect(try segments(looking: false) >= 380)
        #expect(try segments(looking: true) <= 280)
    }
}
