import Glibc
import Testing

@testable import BLERuntime

@Suite("Loop inbox")
struct LoopInboxTests {
    /// Whether somebody has rung since this was last asked.
    private func hasRung(_ inbox: LoopInbox) -> Bool {
        var count: UInt64 = 0
        return read(inbox.wakeDescriptor.raw, &count, MemoryLayout<UInt64>.size) > 0
    }

    @Test("Only a waiting thread is woken, and only once")
    func ringing() {
        let inbox = LoopInbox()
        inbox.wake()
        #expect(!hasRung(inbox))
        var bodies: [@Sendable () -> Void] = []
        #expect(inbox.begin(&bodies))
        #expect(inbox.beginWaiting() && inbox.isWaiting)
        inbox.wake()
        inbox.wake()
        #expect(hasRung(inbox) && !hasRung(inbox))
        #expect(!inbox.isWaiting)
    }

    @Test("A woken thread does not wait before its next turn")
    func woken() {
        let inbox = LoopInbox()
        var bodies: [@Sendable () -> Void] = []
        inbox.wake()
        #expect(!inbox.beginWaiting() && !inbox.isWaiting)
        #expect(inbox.begin(&bodies))
        #expect(inbox.beginWaiting())
        inbox.wake()
        #expect(hasRung(inbox))
    }

    @Test("A wake-up that is cleared is no longer signalled")
    func hushing() {
        let inbox = LoopInbox()
        #expect(inbox.beginWaiting())
        inbox.wake()
        inbox.clearWake()
        #expect(!hasRung(inbox))
        inbox.clearWake()
    }

    @Test("Work runs once, in the order in which it was posted, even in the last turn")
    func work() {
        let inbox = LoopInbox(), done = Locked<[Int]>([])
        var bodies: [@Sendable () -> Void] = []
        for number in 0..<3 { inbox.post { done.withLock { $0.append(number) } } }
        #expect(inbox.begin(&bodies))
        for body in bodies { body() }
        bodies = []
        inbox.post { done.withLock { $0.append(3) } }
        inbox.stop()
        #expect(!inbox.begin(&bodies))
        for body in bodies { body() }
        #expect(done.withLock { $0 } == [0, 1, 2, 3])
    }
}
