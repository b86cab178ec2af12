import BLEWire
import Testing

@testable import BLERuntime

@Suite("Busy polling before sleeping")
struct BusyPollingTests {
    private static let short = BusyPolling.longest
    private static let long = BusyPolling.longest + .nanoseconds(1)

    private func polling(after waits: [Duration] = []) -> BusyPolling {
        var polling = BusyPolling()
        polling.isAllowed = true
        for wait in waits { polling.waited(from: Instant(), to: Instant() + wait) }
        return polling
    }

    /// How many short waits it takes until asking is due; `nil` if more than there may be.
    private func needed(by polling: BusyPolling) -> Int? {
        var polling = polling
        polling.waited(from: Instant(), to: Instant() + Self.long)
        for count in 1...BusyPolling.shortWaitsBeforePolling.upperBound {
            polling.waited(from: Instant(), to: Instant() + Self.short)
            if polling.isDue { return count }
        }
        return nil
    }

    @Test(
        "Polling starts after eight short waits in a row",
        arguments: [
            ([Duration](repeating: short, count: 7), false), ([Duration](repeating: short, count: 8), true),
            ([Duration](repeating: long, count: 100), false), ([Duration](repeating: .zero, count: 7) + [long], false),
            ([Duration](repeating: short, count: 100) + [long] + [Duration](repeating: short, count: 7), false),
        ]
    )
    func shortWaitsBeforePolling(waits: [Duration], isDue: Bool) {
        #expect(polling(after: waits).isDue == isDue)
    }

    @Test("A loop whose peer is a radio never polls")
    func radio() {
        var polling = polling(after: [Duration](repeating: Self.short, count: 100))
        polling.isAllowed = false
        #expect(!polling.isDue)
    }

    @Test("Polling continues while there are responses, and stops at the first miss")
    func stops() {
        var polling = polling(after: [Duration](repeating: Self.short, count: 8))
        for _ in 0..<10_000 { polling.ended(.answered) }
        #expect(polling.isDue)
        polling.ended(.unanswered)
        #expect(!polling.isDue && needed(by: polling) == BusyPolling.shortWaitsBeforePolling.lowerBound)
    }

    @Test(
        "Unprofitable polling doubles the required short waits, up to the limit",
        arguments: [
            (BusyPolling.Outcome.unanswered, BusyPolling.responsesPerFailure),
            (.preempted, BusyPolling.responsesPerPreemption),
        ]
    )
    func doubling(outcome: BusyPolling.Outcome, worth: Int) {
        var polling = polling()
        for needed in [16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 4_096] {
            for _ in 0..<(worth - 1) { polling.ended(.answered) }
            polling.ended(outcome)
            #expect(self.needed(by: polling) == needed)
        }
        for _ in 0..<worth { polling.ended(.answered) }
        polling.ended(outcome)
        #expect(needed(by: polling) == BusyPolling.shortWaitsBeforePolling.lowerBound)
    }
}
