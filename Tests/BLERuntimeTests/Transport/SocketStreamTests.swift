import BLERuntime
import Testing

@Suite("Socket stream", .timeLimit(.minutes(10)))
struct SocketStreamTests {
    @Test("A stream that nobody holds any more closes its connection", arguments: [false, true])
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
}
