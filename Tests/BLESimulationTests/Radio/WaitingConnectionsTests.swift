import BLEWire
import Testing

@testable import BLESimulation

@Suite("Connections waiting for a controller")
struct WaitingConnectionsTests {
    @Test("Each connection waits until its deadline, and the first one is served first")
    func order() {
        var waiting = WaitingConnections<Int>()
        let start = Instant() + .seconds(1)
        #expect(waiting.deadline == nil)
        for number in 0..<3 {
            let isWaiting = waiting.add(number, until: start + .milliseconds(number))
            #expect(isWaiting)
        }
        #expect(waiting.deadline == start)
        let isEarly = waiting.expire(at: start + .nanoseconds(-1)), isOverdue = waiting.expire(at: start)
        #expect(!isEarly && isOverdue)
        #expect(waiting.deadline == start + .milliseconds(1))
        let next = [waiting.next(), waiting.next(), waiting.next()]
        #expect(next == [1, 2, nil] && waiting.deadline == nil)
    }

    @Test("At most eight connections wait")
    func limit() {
        var waiting = WaitingConnections<Int>()
        let taken = (0..<10).count { waiting.add($0, until: Instant()) }
        #expect(taken == 8)
    }
}
