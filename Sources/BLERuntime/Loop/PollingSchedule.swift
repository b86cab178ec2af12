import BLEWire

/// The schedule of a thread that waits for the program at the other end of a socket.
///
/// It says when to read from the socket, and when to yield the processor. The times are chosen to save system calls
/// without delaying the response.
///
/// The program may need this processor to respond, so the thread yields it right after something was sent. Later on,
/// the program usually runs on another processor, so yields are rare. But if another thread did use the processor
/// during a yield, the next yield follows immediately.
struct PollingSchedule {
    /// The time between an unsuccessful read and the next one, in nanoseconds.
    private static let readInterval: Int64 = 2_000
    /// The time between two yields if no other thread used the processor, in nanoseconds.
    private static let yieldInterval: Int64 = 50_000
    /// The maximum duration of a yield during which no other thread used the processor, in nanoseconds.
    private static let emptyYield: Int64 = 1_500

    private var nextRead: Instant
    private var nextYield: Instant

    /// Starts a wait.
    init(from now: Instant) {
        nextRead = now
        nextYield = now
    }

    /// Returns whether to try to read from the socket now.
    ///
    /// False for a short time after a read that found nothing.
    func isReadDue(at now: Instant) -> Bool { now >= nextRead }

    /// Records a read that found nothing.
    mutating func noteEmptyRead(at now: Instant) { nextRead = now.later(byNanoseconds: Self.readInterval) }

    /// Records a read that found something but does not end the wait.
    ///
    /// Other threads may now have work to do, so the next yield is due immediately.
    mutating func noteSuccessfulRead(at now: Instant) {
        nextRead = now
        nextYield = now
    }

    /// Returns whether to yield the processor now.
    ///
    /// False for some time after a yield that no other thread used, unless a read has succeeded since.
    func isYieldDue(at now: Instant) -> Bool { now >= nextYield }

    /// Records a yield, and schedules the next one: immediately if another thread used the processor.
    mutating func yielded(from begin: Instant, to end: Instant) {
        let wasUsed = end > begin.later(byNanoseconds: Self.emptyYield)
        nextYield = wasUsed ? end : end.later(byNanoseconds: Self.yieldInterval)
    }
}
