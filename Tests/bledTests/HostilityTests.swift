import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import bled

@Suite("The daemon and programs that mean no good", .timeLimit(.minutes(2)))
struct HostilityTests {
    /// A program that says what it likes, and what it is told.
    private final class Stranger {
        private let socket: Int32
        private var reader = FrameReader()

        init(at path: String) throws {
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, size) }
            }
            try #require(result == 0)
        }

        deinit { close(socket) }

        /// Says something; `false` if nobody listens any more.
        @discardableResult
        func say(_ octets: [UInt8]) -> Bool { send(socket, octets, octets.count, Int32(MSG_NOSIGNAL)) == octets.count }

        @discardableResult
        func say(_ message: AppMessage) -> Bool {
            var writer = FrameWriter(), octets: [UInt8] = []
            _ = writer.write(message)
            writer.take { octets = [UInt8](copying: $0) }
            return say(octets)
        }

        /// All that is said until the connection ends.
        func listen() throws -> [DaemonMessage] {
            var messages: [DaemonMessage] = [], buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(socket, &buffer, buffer.count, 0)
                guard count > 0 else { return messages }
                try reader.receive(Array(buffer[..<count]).span) { octets in
                    if let message = try? DaemonMessage(reading: octets) { messages.append(message) }
                }
            }
        }
    }

    private func reason(of messages: [DaemonMessage]) -> Refusal.Reason? {
        if case .refused(let refusal)? = messages.last { refusal.reason } else { nil }
    }

    @Test(
        "What is no message is refused, with the reason",
        arguments: [
            [0xFF, 0xFF, 0xFF, 0xFF], [1, 0, 0, 0, 99], [4, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0],
            Array("GET / HTTP/1.1\r\n\r\n".utf8),
        ] as [[UInt8]]
    )
    func garbage(octets: [UInt8]) throws {
        let bench = try DaemonBench(), stranger = try Stranger(at: bench.path)
        stranger.say(octets)
        #expect(reason(of: try stranger.listen()) == .malformed)
    }

    @Test("A program that says nothing is not kept")
    func silence() throws {
        let bench = try DaemonBench(limits: .init(greeting: .milliseconds(50)))
        #expect(reason(of: try Stranger(at: bench.path).listen()) == .malformed)
    }

    @Test("Requests beyond the window end the session, and others go on")
    func flood() async throws {
        let bench = try DaemonBench(), central = bench.central()
        await central.reach(.poweredOn)
        let stranger = try Stranger(at: bench.path)
        stranger.say(.hello(Hello()))
        var writer = FrameWriter(), octets: [UInt8] = []
        for number in 1...5_000 as ClosedRange<UInt32> { _ = writer.write(AppMessage.request(number, .stopScan)) }
        writer.take { octets = [UInt8](copying: $0) }
        stranger.say(octets)
        #expect(reason(of: try stranger.listen()) == .congested)
        #expect(central.state == .poweredOn)
    }

    @Test("No more programs are served than the limit, and there is room again when some have gone")
    func crowd() throws {
        let bench = try DaemonBench(limits: .init(connections: 20, connectionsOfUser: 10))
        var strangers: [Stranger] = []
        for _ in 0..<10 {
            strangers.append(try Stranger(at: bench.path))
            strangers.last?.say(.hello(Hello()))
        }
        while try bench.current.connectionCount < 10 { sched_yield() }
        #expect(reason(of: try Stranger(at: bench.path).listen()) == .tooMany)
        strangers = []
        while try bench.current.connectionCount > 0 { sched_yield() }
        let next = try Stranger(at: bench.path)
        next.say(.hello(Hello()))
        next.say(.close)
        guard case .welcome? = try next.listen().first else {
            Issue.record("there is no room")
            return
        }
    }

    @Test("A second daemon at the same socket is refused, and one after a crash takes its place")
    func place() throws {
        let bench = try DaemonBench()
        let second = Daemon(Radios([("none", UnsupportedLink())]))
        #expect(throws: TransportError.self) { try second.listen(at: bench.path) }
        bench.stop()
        #expect(DaemonSocket.isSocket(bench.path))
        try second.listen(at: bench.path)
        second.stop()
    }
}
