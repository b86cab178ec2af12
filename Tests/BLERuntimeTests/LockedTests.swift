import Dispatch
import Testing

@testable import BLERuntime

@Suite("Values behind a lock")
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

    @Test("A body that throws lets the next one in")
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

    @Test("Who does not wait gets the value only while no other thread has it")
    func availability() {
        let count = Locked(0), taken = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let holder: @Sendable () -> Void = {
            count.withLock { value in
                value = 1
                taken.signal()
                goesOn.wait()
            }
            done.signal()
        }
        DispatchQueue.global().async(execute: holder)
        taken.wait()
        #expect(count.withLockIfAvailable { $0 } == nil)
        goesOn.signal()
        done.wait()
        #expect(count.withLockIfAvailable { $0 } == 1)
    }
}
