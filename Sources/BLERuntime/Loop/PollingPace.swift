import BLEWire

/// Says when a thread that waits for a program at the other end looks for its answer, and when it lets others have the
/// processor, so that it makes few calls of the system without being late.
///
/// The program may need the processor of the thread to answer: after something was said it gets that at once. From then
/// on it mostly runs elsewhere; where somebody does use the processor when it is left, it is left again and again.
struct PollingPace {
    /// How long after a look in vain the next one is worth its call, in nanoseconds.
    private static let untilLook: Int64 = 2_000
    /// How long a thread keeps a processor that nobody else used when it was left, in nanoseconds.
    private static let untilYield: Int64 = 50_000
    /// What leaving a processor takes at most if nobody else uses it, in nanoseconds.
    private static let emptyYield: Int64 = 1_500

    private var look: Instant
    private var yield: Instant

    /// Begins to wait.
    init(from now: Instant) {
        look = now
        yield = now
    }

    /// Whether to look now.
    func looks(at now: Instant) -> Bool { now >= look }

    /// There was nothing to see.
    mutating func lookedInVain(at now: Instant) { look = now.later(byNanoseconds: Self.untilLook) }

    /// Something was seen, but not all that is waited for, and others may have something to do because of it.
    mutating func saw(at now: Instant) {
        look = now
        yield = now
    }

    /// Whether to leave the processor now.
    func yields(at now: Instant) -> Bool { now >= yield }

    /// The processor was left from then to now.
    mutating func yielded(from begin: Instant, to end: Instant) {
        let wasUsed = end > begin.later(byNanoseconds: Self.emptyYield)
        yield = wasUsed ? end : end.later(byNanoseconds: Self.untilYield)
    }
}
