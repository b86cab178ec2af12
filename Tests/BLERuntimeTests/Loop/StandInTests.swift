import BLEWire
import Testing

@testable import BLERuntime

@Suite("Who waits in place of a loop's thread")
struct StandInTests {
    private static let now = Instant(nanoseconds: 5_000_000)

    @Test("A thread that says nothing more is relied on for a millisecond")
    func patience() throws {
        let standIn = StandIn()
        #expect(standIn.end(at: Self.now) == nil)
        standIn.stay(at: Self.now)
        let end = try #require(standIn.end(at: Self.now))
        #expect(end == Self.now + .milliseconds(1))
        #expect(standIn.end(at: end) == nil)
    }

    @Test("A thread that leaves is told once whether it was relied on")
    func leaving() {
        let standIn = StandIn()
        #expect(!standIn.leave())
        standIn.stay(at: Self.now)
        #expect(standIn.leave() && !standIn.leave())
        #expect(standIn.end(at: Self.now) == nil)
    }

    @Test("What was in vain is not wanted any more, and the loop is told of it once, with the answers before it")
    func givingUp() throws {
        let standIn = StandIn()
        standIn.isWanted = true
        for _ in 0..<3 { standIn.answered() }
        #expect(standIn.takeOutcome() == nil)
        standIn.gaveUp(.crowdedOut)
        #expect(!standIn.isWanted)
        let (outcome, answers) = try #require(standIn.takeOutcome())
        #expect(outcome == .crowdedOut && answers == 3)
        #expect(standIn.takeOutcome() == nil)
        standIn.gaveUp(.unanswered)
        #expect(standIn.takeOutcome()?.after == 0)
    }
}
