import BLERuntime
import BLESimulation
import Testing

/// Programs that close their connection to a controller and make the next one at once, or do not close it.
@Suite("Reconnecting to a radio server", .timeLimit(.minutes(30)))
struct ReconnectingTests {
    @Test("The newest connection to a conformance driver's controller replaces one that is still open")
    func newest() throws {
        let radio = RadioServer(seed: 1, extraConnections: .replace)
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        var before = try RadioClient(at: port)
        #expect(before.reset())
        for _ in 0..<20 {
            let next = try RadioClient(at: port)
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
        var current = try RadioClient(at: port)
        #expect(current.reset())
        let newcomers = try (0..<count).map { _ in try RadioClient(at: port) }
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
        let first = try RadioClient(at: port)
        #expect(first.reset())
        for _ in 0..<2 {
            let second = try RadioClient(at: port)
            #expect(second.isEnded)
            #expect(first.reset())
        }
        #expect(refused.withLock { $0 } == [port], "it is said once")
        first.leave()
        radio.stop()
    }
}
