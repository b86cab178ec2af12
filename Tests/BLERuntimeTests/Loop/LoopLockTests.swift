import Dispatch
import Testing

@testable import BLERuntime

@Suite("Lock of a loop", .timeLimit(.minutes(30)))
struct LoopLockTests {
    @Test("No change is lost when threads compete")
    func competition() {
        let lock = LoopLock(), rounds = 4, changes = 5_000
        let count = Unchecked(0)
        DispatchQueue.concurrentPerform(iterations: rounds) { number in
            for _ in 0..<changes {
                if number % 2 == 0 {
                    lock.withLock { count.value += 1 }
                } else {
                    while lock.withLockIfAvailable({ count.value += 1 }) == nil {}
                }
            }
        }
        #expect(count.value == rounds * changes)
    }

    @Test("A thread that does not wait gets the lock only if it is free")
    func availability() {
        let lock = LoopLock(), taken = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            lock.withLock {
                taken.signal()
                goesOn.wait()
            }
            done.signal()
        }
        taken.wait()
        #expect(lock.withLockIfAvailable { 1 } == nil)
        goesOn.signal()
        done.wait()
        #expect(lock.withLockIfAvailable { 1 } == 1)
    }

    /// A value that only the lock protects.
    private final class Unchecked<Value>: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }
}
