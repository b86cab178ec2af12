import BLEWire

/// Decides when a loop asks the system again and again for a moment before its thread sleeps.
///
/// A program at the other end of a socket answers sooner than a processor that sleeps wakes up, so that two programs
/// that speak in turn spend most of their time on waking each other. To ask pays where waits have been short, and where
/// nobody else wants the processor; where it did not pay, more short waits have to speak for it the next time.
struct BusyPolling {
    /// How asking ended.
    enum Outcome {
        case answered
        /// All of ``longest`` went by.
        case unanswered
        /// Somebody else, to whom the thread left the processor between, kept it for longer than that.
        case crowdedOut
    }

    /// How long is asked at most, which is also what makes a wait a short one.
    ///
    /// A program on the same machine answers within it; a packet on the air and the pause after it take longer.
    static let longest = Duration.nanoseconds(longestNanoseconds)
    // Counted before and after each wait, and durations are twice as wide.
    private static let longestNanoseconds: Int64 = 200_000
    /// How many short waits in a row call for it, at first and at most.
    static let quorum = 8...4_096
    /// How often the program at the other end is asked for an answer, for each time that all else is looked at.
    static let thoroughness = 8
    /// How many answers make up for a time in which none came: each spares a wake-up, of some ten microseconds.
    static let worthOfTime = 16
    /// How many answers make up for a processor that somebody else kept, for some milliseconds.
    static let worthOfProcessor = 256

    /// Whether there is a program at the other end.
    var isAllowed = false
    private var shortWaits = 0
    private var needed = quorum.lowerBound
    /// How many answers came since asking was last in vain.
    private var answers = 0

    /// Whether the next wait begins with asking.
    var isDue: Bool { isAllowed && shortWaits >= needed }

    /// When what begins now has taken ``longest``.
    static func end(from now: Instant) -> Instant { now.later(byNanoseconds: longestNanoseconds) }

    /// Takes note of how long the thread slept.
    mutating func slept(from begin: Instant, to end: Instant) {
        shortWaits = end <= Self.end(from: begin) ? min(shortWaits + 1, Self.quorum.upperBound) : 0
    }

    /// Takes note of how asking ended, after so many times that brought answers and were not told of.
    mutating func asked(_ outcome: Outcome, after answers: Int = 0) {
        self.answers = min(self.answers + min(answers, Self.worthOfProcessor), Self.worthOfProcessor)
        switch outcome {
        case .answered: self.answers = min(self.answers + 1, Self.worthOfProcessor)
        case .unanswered: giveUp(unless: Self.worthOfTime)
        case .crowdedOut: giveUp(unless: Self.worthOfProcessor)
        }
    }

    private mutating func giveUp(unless worth: Int) {
        needed = answers < worth ? min(2 * needed, Self.quorum.upperBound) : Self.quorum.lowerBound
        answers = 0
        shortWaits = 0
    }
}
