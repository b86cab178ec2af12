import BLEWire

/// The timing of reads and yields of a thread that waits for a program at the other end, chosen to make few system
/// calls without a delay.
///
/// The program may need this processor to respond, so it is yielded immediately after something was sent. Later, the
/// program mostly runs on another processor; if a thread does use the yielded processor, it is yielded again and again.
struct PollingPace {
    /// The time between an unsuccessful read and the next one, in nanoseconds.
    private static let untilLook: Int64 = 2_000
    /// The time between yields that no other thread used, in nanoseconds.
    private static let untilYield: Int64 = 50_000
    /// The maximum time of a yield that no other thread used, in nanoseconds.
    private static let emptyYield: Int64 = 1_500

    private var look: Instant
    private var yield: Instant

    /// Starts a wait.
    init(from now: Instant) {
        look = now
        yield = now
    }

    /// Returns whether to read now.
    func looks(at now: Instant) -> Bool { now >= look }

    /// Records an unsuccessful read.
    mutating func lookedInVain(at now: Instant) { look = now.later(byNanoseconds: Self.untilLook) }

    /// Records a successful read that does not end the wait.
    ///
    /// Other threads may have work because of it.
    mutating func saw(at now: Instant) {
        look = now
        yield = now
    }

    /// Returns whether to yield now.
    func yields(at now: Instant) -> Bool { now >= yield }

    /// Records a yield.
    mutating func yielded(from begin: Instant, to end: Instant) {
        let wasUsed = end > begin.later(byNanoseconds: Self.emptyYield)
        yield = wasUsed ? end : end.later(byNanoseconds: Self.untilYield)
    }
}
