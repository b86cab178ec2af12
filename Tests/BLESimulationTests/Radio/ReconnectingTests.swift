import BLERuntime
import BLESimulation
import Glibc
import Testing

/// Programs that close their connection to a controller and make the next one at once, or do not close it.
@Suite("Reconnecting to a radio server", .timeLimit(.minutes(30)))
struct ReconnectingTests {
    /// A host without anything to say but Reset.
    private final class Visitor {
        private let socket: Int32

        /// Connects; the system completes this before the server knows of it.
        init(at port: UInt16) throws {
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(result == 0)
        }

        /// Sends Reset; returns whether the controller answers, rather than that the connection ends.
        func reset() -> Bool {
            let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
            return send(socket, command, command.count, Int32(MSG_NOSIGNAL)) == command.count
                && octets(7) == [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
        }

        /// Whether the server ends the connection without saying anything more.
        var isEnded: Bool { octets(1).isEmpty }

        private func octets(_ count: Int) -> [UInt8] {
            var octets: [UInt8] = []
            while octets.count < count {
                var octet: UInt8 = 0
                guard recv(socket, &octet, 1, 0) == 1 else { break }
                octets.append(octet)
            }
            return octets
        }

        func leave() { shutdown(socket, Int32(SHUT_RDWR)) }

        deinit { close(socket) }
    }

    @Test("The newest connection to a conformance driver's controller replaces one that is still open")
    func newest() throws {
        let radio = RadioServer(seed: 1, extraConnections: .replace)
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        var before = try Visitor(at: port)
        #expect(before.reset())
        for _ in 0..<20 {
            let next = try Visitor(at: port)
            #expect(next.reset())
            #expect(before.isEnded)
            before = next
        }
        radio.stop()
    }

    @Test("A program that reconnects before its old connection has closed is served once it has", arguments: 1...3)
    func atOnce(count: Int) throws {
        let refused = Locked(0)
        // As long as it takes: the test decides when the first one leaves.
        let radio = RadioServer(
            seed: 1,
            extraConnections: .wait(.seconds(600)),
            refused: { _ in refused.withLock { $0 += 1 } }
        )
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        var current = try Visitor(at: port)
        #expect(current.reset())
        let newcomers = try (0..<count).map { _ in try Visitor(at: port) }
        // After the second answer, the server has taken the connections that were there before the first question.
        #expect(current.reset() && current.reset())
        for next in newcomers {
            current.leave()
            #expect(next.reset())
            current = next
        }
        #expect(refused.withLock { $0 } == 0)
        radio.stop()
    }

    @Test("A program that waits in vain is refused, and the first one keeps the controller")
    func refused() throws {
        let refused = Locked<[UInt16]>([])
        let radio = RadioServer(
            seed: 1,
            extraConnections: .wait(.milliseconds(1)),
            refused: { port in
                refused.withLock { $0.append(port) }
            }
        )
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let first = try Visitor(at: port)
        #expect(first.reset())
        for _ in 0..<2 {
            let second = try Visitor(at: port)
            #expect(second.isEnded)
            #expect(first.reset())
        }
        #expect(refused.withLock { $0 } == [port], "it is said once")
        first.leave()
        radio.stop()
    }
}
