import BLEWire
import Testing

@testable import BLERuntime

@Suite("Pace of polling")
struct PollingScheduleTests {
    private static let begin = Instant(nanoseconds: 1_000_000)

    private func after(_ nanoseconds: Int64) -> Instant { Self.begin.later(byNanoseconds: nanoseconds) }

    @Test("Both a check and a yield are due at the beginning")
    func beginning() {
        let schedule = PollingSchedule(from: Self.begin)
        #expect(schedule.isReadDue(at: Self.begin) && schedule.isYieldDue(at: Self.begin))
    }

    @Test("After a check without a result, the next one is due in two microseconds")
    func looking() {
        var schedule = PollingSchedule(from: Self.begin)
        schedule.noteEmptyRead(at: after(500))
        #expect(!schedule.isReadDue(at: after(2_499)) && schedule.isReadDue(at: after(2_500)))
    }

    @Test("An uncontended processor is kept for 50 microseconds, and a contended one is yielded again")
    func yielding() {
        var schedule = PollingSchedule(from: Self.begin)
        schedule.yielded(from: Self.begin, to: after(400))
        #expect(!schedule.isYieldDue(at: after(50_399)) && schedule.isYieldDue(at: after(50_400)))
        schedule.yielded(from: after(50_400), to: after(58_000))
        #expect(schedule.isYieldDue(at: after(58_000)))
    }

    @Test("After a result both are due again")
    func seeing() {
        var schedule = PollingSchedule(from: Self.begin)
        schedule.yielded(from: Self.begin, to: after(400))
        schedule.noteEmptyRead(at: after(900))
        schedule.noteSuccessfulRead(at: after(1_000))
        #expect(schedule.isReadDue(at: after(1_000)) && schedule.isYieldDue(at: after(1_000)))
    }
}
