import BLEWire
import Testing

@testable import BLEDaemon

@Suite("How fast newcomers are let in")
struct NewcomerPaceTests {
    private var pace = NewcomerPace(burst: 3, then: .milliseconds(5))

    private static func instant(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("As many as the burst come at once, then one in each interval, and a pause is credited up to the burst")
    mutating func burst() {
        for start in [1_000, 60_000] {
            #expect(pace.letIn(at: Self.instant(start)) == nil)
            #expect(pace.letIn(at: Self.instant(start)) == nil)
            #expect(pace.letIn(at: Self.instant(start)) == Self.instant(start + 5))
            #expect(pace.letIn(at: Self.instant(start + 5)) == Self.instant(start + 10))
            #expect(pace.letIn(at: Self.instant(start + 12)) == Self.instant(start + 15))
            #expect(pace.letIn(at: Self.instant(start + 20)) == nil)
        }
    }

    @Test("Whoever is let in too early counts as well")
    mutating func early() {
        for _ in 0..<10 { _ = pace.letIn(at: Self.instant(0)) }
        #expect(pace.letIn(at: Self.instant(0)) == Self.instant(45))
        #expect(pace.letIn(at: Self.instant(45)) == Self.instant(50))
    }
}
