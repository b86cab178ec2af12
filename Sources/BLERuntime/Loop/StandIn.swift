import BLEWire
import Synchronization

/// Says whether another thread waits for the program at the other end in place of the loop's own.
///
/// An app that has asked for something looks for the answer itself before it leaves its queue, so that neither thread
/// has to wake the other. The loop's thread relies on it for a moment at a time: an app may be kept by something else
/// when it has heard the answer.
///
/// Sendable because any thread may ask.
final class StandIn: Sendable {
    /// How long the loop's thread relies on one who says nothing more, in nanoseconds.
    private static let patience: Int64 = 1_000_000

    private let end = Atomic<Int64>(0)
    private let wanted = Atomic(false)
    private let hasGivenUp = Atomic(false)
    private let outcome = Locked(BusyPolling.Outcome.answered)
    /// How many answers were seen since it was last in vain.
    private let answers = Atomic(0)

    /// Whether it would pay to stand in, as the loop found when it last looked.
    var isWanted: Bool {
        get { wanted.load(ordering: .relaxed) }
        set { wanted.store(newValue, ordering: .relaxed) }
    }

    /// Somebody stands in from now on, or goes on to.
    func stay(at now: Instant) { end.store(now.later(byNanoseconds: Self.patience).nanoseconds, ordering: .relaxed) }

    /// Nobody stands in any more; returns whether somebody has.
    func leave() -> Bool { end.exchange(0, ordering: .relaxed) != 0 }

    /// Until when the loop's thread need not wait itself; `nil` if it has to now.
    func end(at now: Instant) -> Instant? {
        let end = Instant(nanoseconds: end.load(ordering: .relaxed))
        return end > now ? end : nil
    }

    /// An answer was seen.
    func answered() { answers.wrappingAdd(1, ordering: .relaxed) }

    /// To stand in was in vain, and is not wanted before the loop has been told how it ended.
    func gaveUp(_ outcome: BusyPolling.Outcome) {
        self.outcome.withLock { $0 = outcome }
        hasGivenUp.store(true, ordering: .releasing)
        isWanted = false
    }

    /// How standing in ended in vain since this was last asked, if it did, and after how many answers.
    func takeOutcome() -> (BusyPolling.Outcome, after: Int)? {
        // To look first costs less, and mostly there is nothing.
        guard hasGivenUp.load(ordering: .relaxed), hasGivenUp.exchange(false, ordering: .acquiring) else { return nil }
        return (outcome.withLock { $0 }, answers.exchange(0, ordering: .relaxed))
    }
}
