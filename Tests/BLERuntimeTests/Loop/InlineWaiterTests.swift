import BLEWire
import Testing

@testable import BLERuntime

@Suite("Inline waiter")
struct InlineWaiterTests {
    private static let now = Instant(nanoseconds: 5_000_000)

    @Test("A silent thread is relied on for a millisecond")
    func patience() throws {
        let inlineWaiter = InlineWaiter()
        #expect(inlineWaiter.end(at: Self.now) == nil)
        inlineWaiter.keepWaiting(at: Self.now)
        let end = try #require(inlineWaiter.end(at: Self.now))
        #expect(end == Self.now + .milliseconds(1))
        #expect(inlineWaiter.end(at: end) == nil)
    }

    @Test("A thread that leaves is told once whether it was relied on")
    func leaving() {
        let inlineWaiter = InlineWaiter()
        #expect(!inlineWaiter.stop())
        inlineWaiter.keepWaiting(at: Self.now)
        #expect(inlineWaiter.stop() && !inlineWaiter.stop())
        #expect(inlineWaiter.end(at: Self.now) == nil)
    }

    @Test("After a futile wait no further one is wanted, and the loop learns it once, with the responses before it")
    func givingUp() throws {
        let inlineWaiter = InlineWaiter()
        inlineWaiter.isWanted = true
        for _ in 0..<3 { inlineWaiter.answered() }
        #expect(inlineWaiter.takeOutcome() == nil)
        inlineWaiter.failed(.preempted)
        #expect(!inlineWaiter.isWanted)
        let (outcome, responses) = try #require(inlineWaiter.takeOutcome())
        #expect(outcome == .preempted && responses == 3)
        #expect(inlineWaiter.takeOutcome() == nil)
        inlineWaiter.failed(.unanswered)
        #expect(inlineWaiter.takeOutcome()?.after == 0)
    }
}
