import BLEWire
import Testing

@Suite("Instant")
struct InstantTests {
    private static let durations: [(Duration, nanoseconds: Int64)] = [
        (.zero, 0),
        (.nanoseconds(1), 1),
        (.nanoseconds(-1), -1),
        (.seconds(4_722), 4_722_000_000_000),
        (.seconds(4_723) + .nanoseconds(7), 4_723_000_000_007),
        (.seconds(-4_723), -4_723_000_000_000),
        (.seconds(9_223_372_036) + .nanoseconds(854_775_807), .max),
        (Duration(secondsComponent: 1, attosecondsComponent: 999_999_999), 1_000_000_000),
    ]

    @Test("Durations are rounded to whole nanoseconds, whether short or long", arguments: durations)
    func sums(duration: Duration, nanoseconds: Int64) {
        #expect((Instant() + duration).nanoseconds == nanoseconds)
        #expect(Instant(nanoseconds: nanoseconds) - Instant() == .nanoseconds(nanoseconds))
    }

    @Test("Adding a long duration saturates at the last or first instant")
    func limits() {
        for duration in [Duration.seconds(Int64.max), .seconds(9_223_372_037)] {
            #expect((Instant() + duration).nanoseconds == .max)
            #expect((Instant(nanoseconds: .max) + duration).nanoseconds == .max)
            #expect((Instant() + (.zero - duration)).nanoseconds < -9_223_372_036_000_000_000)
        }
        #expect((Instant(nanoseconds: .max) + .nanoseconds(1)).nanoseconds == .max)
        #expect((Instant(nanoseconds: .min) + .nanoseconds(-1)).nanoseconds == .min)
    }

    @Test("The difference of distant instants saturates")
    func differences() {
        let first = Instant(nanoseconds: .min), last = Instant(nanoseconds: .max), now = Instant(nanoseconds: 7)
        #expect(last.nanoseconds(since: now) == .max - 7 && now.nanoseconds(since: last) == 7 - .max)
        #expect(last.nanoseconds(since: first) == .max && first.nanoseconds(since: now) == .min)
        let longest = Duration.nanoseconds(Int64.max), shortest = Duration.nanoseconds(Int64.min)
        #expect(last - first == longest && first - last == shortest)
    }
}
