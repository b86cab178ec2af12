import Glibc
import Synchronization
import Testing

@testable import BLERuntime

@Suite("Socket stream", .timeLimit(.minutes(30)))
struct SocketStreamTests {
    @Test("A stream that is released closes its connection", arguments: [false, true])
    func released(isPaused: Bool) async throws {
        let loop = EventLoop("test-listener")
        loop.start()
        let listener = try SocketListener(
            at: .tcp(host: "127.0.0.1", port: 0),
            on: loop
        ) { stream in
            if isPaused { stream.pause() }
            stream.start { _ in
            } closed: { _ in
            }
        }
        let owner = TransportOwner(to: .tcp(host: "127.0.0.1", port: listener.port))
        #expect(await owner.next() == .opened)
        #expect(await owner.next() == .closed(.closed))
        owner.stop()
    }

    @Test("Catching up reads all that was written and the end of the stream", arguments: [0, 1, 65_536, 100_000])
    func catchUp(count: Int) throws {
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let far = ends[1]
        let loop = EventLoop("test-catch-up")
        loop.start()
        let stream = SocketStream(FileDescriptor(ends[0]), on: loop)
        let heard = Mutex<(octets: Int, ends: Int)>((0, 0))
        loop.sync {
            stream.start { chunk in
                let count = chunk.count
                heard.withLock { $0.octets += count }
            } closed: { _ in
                heard.withLock { $0.ends += 1 }
            }
            #expect(write(far, [UInt8](repeating: 1, count: count), count) == count)
            close(far)
            stream.catchUp()
        }
        #expect(heard.withLock { $0 } == (count, 1))
    }

    @Test("A stream whose peer leaves with much unread data ends, and nothing else does")
    func unread() async throws {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let far = ends[1]
        let loop = EventLoop("test-unread")
        loop.start()
        let stream = SocketStream(FileDescriptor(ends[0]), on: loop)
        let (closings, continuation) = AsyncStream.makeStream(of: Void.self)
        loop.sync {
            stream.readsToTheEnd = true
            stream.start { _ in
            } closed: { _ in
                continuation.yield()
            }
            let octets = [UInt8](repeating: 1, count: 1 << 20)
            stream.write(octets.span)
            #expect(stream.pendingOctets > 0)
            close(far)
        }
        for await _ in closings { break }
        #expect(loop.sync { stream.pendingOctets } == 0)
    }

    @Test("A dropped backlog ends at the boundary of a write", arguments: [1_000, 70_000, 1 << 20])
    func drop(count: Int) throws {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let far = FileDescriptor(ends[1]), loop = EventLoop("test-drop")
        loop.start()
        let stream = SocketStream(FileDescriptor(ends[0]), on: loop), octets = [UInt8](repeating: 1, count: count)
        loop.sync {
            stream.start { _ in
            } closed: { _ in
            }
            while stream.pendingOctets < 4 << 20 { stream.write(octets.span) }
            stream.dropBacklog()
            #expect(stream.pendingOctets <= 2 * 65_536 + count)
            stream.write([2].span)
        }
        var heard: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while heard.last != 2 {
            var event = pollfd(fd: far.raw, events: Int16(POLLIN), revents: 0)
            poll(&event, 1, -1)
            let count = read(far.raw, &buffer, buffer.count)
            try #require(count > 0)
            heard += buffer.prefix(count)
        }
        withExtendedLifetime(stream) {}
        #expect((heard.count - 1) % count == 0)
    }
}
