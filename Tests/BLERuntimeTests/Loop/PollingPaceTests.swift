import BLEWire
import Testing

@testable import BLERuntime

@Suite("When who polls looks, and leaves the processor")
struct PollingPaceTests {
    private static let begin = Instant(nanoseconds: 1_000_000)

    private func after(_ nanoseconds: Int64) -> Instant { Self.begin.later(byNanoseconds: nanoseconds) }

    @Test("Both are due at the beginning")
    func beginning() {
        let pace = PollingPace(from: Self.begin)
        #expect(pace.looks(at: Self.begin) && pace.yields(at: Self.begin))
    }

    @Test("After a look in vain the next one is due in two microseconds")
    func looking() {
        var pace = PollingPace(from: Self.begin)
        pace.lookedInVain(at: after(500))
        #expect(!pace.looks(at: after(2_499)) && pace.looks(at: after(2_500)))
    }

    @Test("A processor that nobody else used is kept for 50 microseconds, and one that somebody used is left again")
    func yielding() {
        var pace = PollingPace(from: Self.begin)
        pace.yielded(from: Self.begin, to: after(400))
        #expect(!pace.yields(at: after(50_399)) && pace.yields(at: after(50_400)))
        pace.yielded(from: after(50_400), to: after(58_000))
        #expect(pace.yields(at: after(58_000)))
    }

    @Test("When something was seen both are due again")
    func seeing() {
        var pace = PollingPace(from: Self.begin)
        pace.yielded(from: Self.begin, to: after(400))
        pace.lookedInVain(at: after(900))
        pace.saw(at: after(1_000))
        #expect(pace.looks(at: after(1_000)) && pace.yields(at: after(1_000)))
    }
}
