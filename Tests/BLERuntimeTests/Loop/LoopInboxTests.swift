import Glibc
import Testing

@testable import BLERuntime

@Suite("What other threads leave for a loop")
struct LoopInboxTests {
    /// Whether somebody has rung since this was last asked.
    private func hasRung(_ inbox: LoopInbox) -> Bool {
        var count: UInt64 = 0
        return read(inbox.wakeDescriptor.raw, &count, MemoryLayout<UInt64>.size) > 0
    }

    @Test("It is rung for a thread that sleeps, once, and for no other", arguments: [false, true])
    func ringing(isAsleep: Bool) {
        let inbox = LoopInbox()
        inbox.wake()
        #expect(!hasRung(inbox))
        var bodies: [@Sendable () -> Void] = []
        #expect(inbox.begin(&bodies))
        #expect(inbox.beginWaiting(asleep: isAsleep) && inbox.isWaiting)
        inbox.wake()
        inbox.wake()
        #expect(hasRung(inbox) == isAsleep)
        #expect(inbox.isWoken && !inbox.isWaiting)
    }

    @Test("Whoever was woken neither waits nor sleeps before the next round")
    func woken() {
        let inbox = LoopInbox()
        var bodies: [@Sendable () -> Void] = []
        inbox.wake()
        #expect(!inbox.beginWaiting(asleep: true) && !inbox.beginSleeping())
        #expect(inbox.begin(&bodies))
        #expect(inbox.beginWaiting(asleep: false) && inbox.beginSleeping())
        inbox.wake()
        #expect(hasRung(inbox))
    }

    @Test("A bell that is hushed has not rung")
    func hushing() {
        let inbox = LoopInbox()
        #expect(inbox.beginWaiting(asleep: true))
        inbox.wake()
        inbox.clearWake()
        #expect(!hasRung(inbox))
        inbox.clearWake()
    }

    @Test("Work is done once, in the order in which it was left, also by the round that is the last")
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
