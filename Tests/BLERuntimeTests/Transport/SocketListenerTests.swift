import BLEWire
import Glibc
import Testing

@testable import BLERuntime

@Suite("Socket listener", .timeLimit(.minutes(30)))
struct SocketListenerTests {
    @Test("The port that the system chose is known for both versions of IP", arguments: ["127.0.0.1", "::1"])
    func ports(host: String) throws {
        let loop = EventLoop("test")
        loop.start()
        do throws(TransportError) {
            let listener = try SocketListener(at: .tcp(host: host, port: 0), on: loop) { _ in }
            #expect(listener.port > 0)
        } catch {
            // A computer without IPv6 has no such address.
            try #require(host == "::1", "\(error)")
        }
    }

    @Test("A process without free descriptors waits for the next connection without busy looping, and accepts it later")
    func exhausted() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop("test"), rounds = Locked(0), accepted = Locked(0)
            loop.start {
                rounds.withLock { $0 += 1 }
                return nil
            }
            let path = "/tmp/listener-\(getpid())"
            let listener = try SocketListener(at: .unix(path: path), on: loop) { _ in accepted.withLock { $0 += 1 } }
            defer { unlink(path) }
            let client = FileDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            try withoutFreeDescriptors {
                let result = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(client.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                try #require(result == 0)
                // Each pause is one round; without them a round follows the other until the alarm.
                let before = rounds.withLock { $0 }, count = Locked<Int?>(nil)
                loop.post {
                    _ = loop.alarm(at: loop.clock.now + .milliseconds(350)) {
                        count.withLock { $0 = rounds.withLock { $0 } - before }
                    }
                }
                while count.withLock({ $0 }) == nil { sched_yield() }
                try #require(count.withLock { $0 ?? 0 } < 100)
                try #require(accepted.withLock { $0 } == 0)
            }
            while accepted.withLock({ $0 }) == 0 { sched_yield() }
            withExtendedLifetime(listener) {}
        }
    }
}
