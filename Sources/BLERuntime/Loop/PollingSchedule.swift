import BLEWire

/// The timing of reads and yields of a thread that waits for a program at the other end, chosen to make few system
/// calls without a delay.
///
/// The program may need this processor to respond, so it is yielded immediately after something was sent. Later, the
/// program mostly runs on another processor; if a thread does use the yielded processor, it is yielded again and again.
struct PollingSchedule {
    /// The time between an unsuccessful read and the next one, in nanoseconds.
    private static let readInterval: Int64 = 2_000
    /// The time between yields that no other thread used, in nanoseconds.
    private static let yieldInterval: Int64 = 50_000
    /// The maximum time of a yield that no other thread used, in nanoseconds.
    private static let emptyYield: Int64 = 1_500

    private var nextRead: Instant
    private var nextYield: Instant

    /// Starts a wait.
    init(from now: Instant) {
        nextRead = now
        nextYield = now
    }

    /// Returns whether to read now.
    func isReadDue(at now: Instant) -> Bool { now >= nextRead }

    /// Records an unsuccessful read.
    mutating func readNothing(at now: Instant) { nextRead = now.later(byNanoseconds: Self.readInterval) }

    /// Records a successful read that does not end the wait.
    ///
    /// Other threads may have work because of it.
    mutating func readSomething(at now: Instant) {
        nextRead = now
        nextYield = now
    }

    /// Returns whether to yield now.
    func isYieldDue(at now: Instant) -> Bool { now >= nextYield }

    /// Records a yield.
    mutating func yielded(from begin: Instant, to end: Instant) {
        let wasUsed = end > begin.later(byNanoseconds: Self.emptyYield)
        nextYield = wasUsed ? end : end.later(byNanoseconds: Self.yieldInterval)
    }
}
