import Dispatch
import Testing

@testable import BLERuntime

@Suite("Locked values")
struct LockedTests {
    @Test("No change is lost when threads compete")
    func competition() {
        let rounds = 4, changes = 5_000
        let count = Locked(0)
        DispatchQueue.concurrentPerform(iterations: rounds) { _ in
            for _ in 0..<changes { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == rounds * changes)
    }

    @Test("An error thrown by the body releases the lock")
    func failure() {
        struct Refused: Error {}
        let count = Locked(0)
        #expect(throws: Refused.self) {
            try count.withLock { (value: inout sending Int) throws(Refused) in
                value = 1
                throw Refused()
            }
        }
        #expect(count.withLock { $0 } == 1)
    }
}
