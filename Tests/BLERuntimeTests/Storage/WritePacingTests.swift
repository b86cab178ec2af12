import BLEWire
import Testing

@testable import BLERuntime

@Suite("Pacing of writes")
struct WritePacingTests {
    private static let now = Instant() + .seconds(100)
    private static let justBefore = Duration.nanoseconds(-1)

    @Test("An urgent change is written immediately, and the next one a second later at the earliest")
    func urgent() {
        var pacing = WritePacing(), now = Self.now
        #expect(pacing.deadline == nil)
        #expect(pacing.changed(.soon, at: now) == .wake(at: now))
        #expect(pacing.begin(at: now) == .write)
        #expect(pacing.ended(isWritten: true, at: now) == .wait)
        let due = now + .seconds(1)
        #expect(pacing.changed(.soon, at: now) == .wake(at: due))
        #expect(pacing.changed(.soon, at: now) == .wait)
        #expect(pacing.deadline == due)
        now = due + Self.justBefore
        #expect(pacing.begin(at: now) == .wait)
        #expect(pacing.begin(at: due) == .write)
        #expect(pacing.ended(isWritten: true, at: due) == .wait)
        #expect(pacing.changed(.soon, at: due + .seconds(5)) == .wake(at: due + .seconds(5)))
    }

    @Test("A change that is not urgent is written after a minute, or together with an urgent one")
    func later() {
        var pacing = WritePacing()
        let due = Self.now + .seconds(60)
        #expect(pacing.changed(.later, at: Self.now) == .wake(at: due))
        #expect(pacing.changed(.later, at: Self.now + .seconds(30)) == .wait)
        #expect(pacing.begin(at: due + Self.justBefore) == .wait)
        let sooner = Self.now + .seconds(40)
        #expect(pacing.changed(.soon, at: sooner) == .wake(at: sooner))
        #expect(pacing.begin(at: sooner) == .write)
        #expect(pacing.ended(isWritten: true, at: sooner) == .wait)
        #expect(pacing.begin(at: due) == .wait)
    }

    @Test("Changes during a write are written afterwards, with the highest urgency among them")
    func meanwhile() {
        var pacing = WritePacing()
        _ = pacing.changed(.soon, at: Self.now)
        #expect(pacing.begin(at: Self.now) == .write)
        for urgency in [WritePacing.Urgency.later, .soon, .later] {
            #expect(pacing.changed(urgency, at: Self.now) == .wait)
        }
        #expect(pacing.begin(at: Self.now, isLast: true) == .wait)
        let end = Self.now + .milliseconds(30)
        #expect(pacing.ended(isWritten: true, at: end) == .wake(at: end + .seconds(1)))
    }

    @Test("A failed write is repeated after a minute, or a second after another change")
    func failing() {
        var pacing = WritePacing()
        _ = pacing.changed(.soon, at: Self.now)
        #expect(pacing.begin(at: Self.now) == .write)
        #expect(pacing.ended(isWritten: false, at: Self.now) == .wake(at: Self.now + .seconds(60)))
        #expect(pacing.changed(.soon, at: Self.now) == .wake(at: Self.now + .seconds(1)))
    }

    @Test("At the end, all pending changes are written regardless of the time")
    func last() {
        var pacing = WritePacing()
        #expect(pacing.begin(at: Self.now, isLast: true) == .wait)
        _ = pacing.changed(.later, at: Self.now)
        #expect(pacing.begin(at: Self.now, isLast: true) == .write)
    }

    @Test("A burst of writes is allowed, and a pause makes room for another")
    func burst() {
        var pacing = WritePacing(burst: 3)
        for now in [Self.now, Self.now + .seconds(60)] {
            for _ in 0..<3 {
                #expect(pacing.changed(.soon, at: now) == .wake(at: now))
                #expect(pacing.begin(at: now) == .write)
                #expect(pacing.ended(isWritten: true, at: now) == .wait)
            }
            #expect(pacing.changed(.soon, at: now) == .wake(at: now + .seconds(1)))
            #expect(pacing.begin(at: now + .seconds(1) + Self.justBefore) == .wait)
            #expect(pacing.begin(at: now + .seconds(1)) == .write)
            #expect(pacing.ended(isWritten: true, at: now + .seconds(1)) == .wait)
        }
    }

    @Test("However much changes within an hour, there is at most one write a second")
    func bounded() {
        var pacing = WritePacing(), now = Self.now, count = 0
        for _ in 0..<36_000 {
            now = now + .milliseconds(100)
            _ = pacing.changed(.soon, at: now)
            guard pacing.begin(at: now) == .write else { continue }
            count += 1
            _ = pacing.ended(isWritten: true, at: now)
        }
        #expect(count == 3_600)
    }
}
