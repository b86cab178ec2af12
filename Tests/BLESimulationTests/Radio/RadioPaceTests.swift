import BLEWire
import Testing

@testable import BLESimulation

@Suite("Pace of a radio")
struct RadioPaceTests {
    @Test("The air has the time of the clock, and what is due is done a millisecond late", arguments: [false, true])
    func clock(hurries: Bool) {
        let pace = RadioPace(hurries: hurries), now = Instant(nanoseconds: 5_000_000)
        #expect(pace.time(on: now) == now)
        #expect(pace.turn(for: now) == Instant(nanoseconds: 6_000_000))
        #expect(pace.mayJump == hurries)
    }

    @Test("After a jump the air stays ahead of the clock by as much, and a turn comes that much sooner")
    func jump() {
        var pace = RadioPace(hurries: true)
        pace.jump(to: Instant(nanoseconds: 7_000_000), from: Instant(nanoseconds: 5_000_000))
        #expect(pace.time(on: Instant(nanoseconds: 5_000_000)) == Instant(nanoseconds: 7_000_000))
        #expect(pace.time(on: Instant(nanoseconds: 6_000_000)) == Instant(nanoseconds: 8_000_000))
        #expect(pace.turn(for: Instant(nanoseconds: 9_000_000)) == Instant(nanoseconds: 8_000_000))
    }

    @Test("Time never goes back")
    func order() {
        var pace = RadioPace(hurries: true)
        pace.jump(to: Instant(nanoseconds: 7_000_000), from: Instant(nanoseconds: 5_000_000))
        pace.jump(to: Instant(nanoseconds: 6_000_000), from: Instant(nanoseconds: 5_500_000))
        #expect(pace.time(on: Instant(nanoseconds: 5_500_000)) == Instant(nanoseconds: 7_500_000))
    }
}
