import Dispatch
import Testing

@testable import BLERuntime

@Suite("Floor of a loop", .timeLimit(.minutes(30)))
struct FloorTests {
    @Test("No change is lost when threads compete")
    func competition() {
        let floor = Floor(), rounds = 4, changes = 5_000
        let count = Unchecked(0)
        DispatchQueue.concurrentPerform(iterations: rounds) { number in
            for _ in 0..<changes {
                if number % 2 == 0 {
                    floor.take { count.value += 1 }
                } else {
                    while floor.takeIfFree({ count.value += 1 }) == nil {}
                }
            }
        }
        #expect(count.value == rounds * changes)
    }

    @Test("Who does not wait has it only while nobody else does")
    func availability() {
        let floor = Floor(), taken = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            floor.take {
                taken.signal()
                goesOn.wait()
            }
            done.signal()
        }
        taken.wait()
        #expect(floor.takeIfFree { 1 } == nil)
        goesOn.signal()
        done.wait()
        #expect(floor.takeIfFree { 1 } == 1)
    }

    /// A value that nothing but the floor protects.
    private final class Unchecked<Value>: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }
}
