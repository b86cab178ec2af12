import BLEWire
import Synchronization

/// The state of an app's thread that waits for the program at the other end of a socket in place of the loop's thread.
///
/// An app that has made a request waits for the result on its own queue, so that neither thread has to wake the other.
/// The loop's thread relies on this only for a short time, because the app may be busy with the result.
///
/// Sendable because any thread may use it.
final class InlineWaiter: Sendable {
    /// The time for which the loop's thread relies on the app's thread after each call of ``keepWaiting(at:)``, in
    /// nanoseconds.
    private static let validity: Int64 = 1_000_000

    private let end = Atomic<Int64>(0)
    private let wanted = Atomic(false)
    private let hasFailed = Atomic(false)
    private let outcome = Locked(BusyPolling.Outcome.answered)
    /// The number of responses since waiting last failed.
    private let responses = Atomic(0)

    /// True if an app's thread should wait in place of the loop's thread.
    ///
    /// The loop updates this before it sleeps.
    var isWanted: Bool {
        get { wanted.load(ordering: .relaxed) }
        set { wanted.store(newValue, ordering: .relaxed) }
    }

    /// Records that the calling thread waits in place of the loop's thread, which relies on this for ``validity`` from
    /// now.
    func keepWaiting(at now: Instant) {
        end.store(now.later(byNanoseconds: Self.validity).nanoseconds, ordering: .relaxed)
    }

    /// Records that no thread waits in place of the loop's thread; returns whether a thread did so before.
    func stop() -> Bool { end.exchange(0, ordering: .relaxed) != 0 }

    /// Returns when the loop's thread will stop relying on an app's thread to wait; `nil` if it must wait itself at
    /// `now`.
    func end(at now: Instant) -> Instant? {
        let end = Instant(nanoseconds: end.load(ordering: .relaxed))
        return end > now ? end : nil
    }

    /// Records a response.
    func answered() { responses.wrappingAdd(1, ordering: .relaxed) }

    /// Records that waiting failed: no response arrived, or another thread kept the processor.
    ///
    /// No thread waits in place of the loop's thread again until the loop has processed the failure.
    func failed(_ outcome: BusyPolling.Outcome) {
        self.outcome.withLock { $0 = outcome }
        hasFailed.store(true, ordering: .releasing)
        isWanted = false
    }

    /// Returns and clears the outcome of a failed wait, with the number of responses before it; `nil` if no wait has
    /// failed.
    func takeOutcome() -> (BusyPolling.Outcome, after: Int)? {
        // A load first is cheaper than an exchange, and usually no wait has failed.
        guard hasFailed.load(ordering: .relaxed), hasFailed.exchange(false, ordering: .acquiring) else { return nil }
        return (outcome.withLock { $0 }, responses.exchange(0, ordering: .relaxed))
    }
}
