import BLEWire
import Testing

@testable import BLESimulation

@Suite("Radio pace")
struct RadioPaceTests {
    @Test("The air follows the clock, and due work runs a millisecond late", arguments: [false, true])
    func clock(skipsIdleTime: Bool) {
        let pace = RadioPace(skipsIdleTime: skipsIdleTime), now = Instant(nanoseconds: 5_000_000)
        #expect(pace.time(on: now) == now)
        #expect(pace.turn(for: now) == Instant(nanoseconds: 6_000_000))
        #expect(pace.mayJump == skipsIdleTime)
    }

    @Test("After a jump the air stays that far ahead of the clock, and turns come earlier by that much")
    func jump() {
        var pace = RadioPace(skipsIdleTime: true)
        pace.jump(to: Instant(nanoseconds: 7_000_000), from: Instant(nanoseconds: 5_000_000))
        #expect(pace.time(on: Instant(nanoseconds: 5_000_000)) == Instant(nanoseconds: 7_000_000))
        #expect(pace.time(on: Instant(nanoseconds: 6_000_000)) == Instant(nanoseconds: 8_000_000))
        #expect(pace.turn(for: Instant(nanoseconds: 9_000_000)) == Instant(nanoseconds: 8_000_000))
    }

    @Test("Time never goes back")
    func order() {
        var pace = RadioPace(skipsIdleTime: true)
        pace.jump(to: Instant(nanoseconds: 7_000_000), from: Instant(nanoseconds: 5_000_000))
        pace.jump(to: Instant(nanoseconds: 6_000_000), from: Instant(nanoseconds: 5_500_000))
        #expect(pace.time(on: Instant(nanoseconds: 5_500_000)) == Instant(nanoseconds: 7_500_000))
    }
}
