import BLEWire

/// The decision whether a loop polls for a short time before its thread sleeps.
///
/// A program at the other end of a socket responds faster than a sleeping processor wakes up, so two programs that
/// exchange messages spend most of their time on wake-ups. Polling pays if waits have been short and no other thread
/// needs the processor. If it did not pay, more short waits are needed the next time.
struct BusyPolling {
    /// The end of polling.
    enum Outcome {
        case answered
        /// ``longest`` passed without a response.
        case unanswered
        /// Another thread kept the processor for longer than that after a yield.
        case crowdedOut
    }

    /// The maximum time of polling, and of a wait that counts as short.
    ///
    /// A program on the same machine responds within it; a packet on the air takes longer.
    static let longest = Duration.nanoseconds(longestNanoseconds)
    // Counted before and after each wait, and durations are twice as wide.
    private static let longestNanoseconds: Int64 = 200_000
    /// Consecutive short waits before polling starts: initial and maximum.
    static let quorum = 8...4_096
    /// The number of polls of the program per poll of everything else.
    static let thoroughness = 8
    /// The number of responses that make up for one unsuccessful time of polling; each saves a wake-up of some ten
    /// microseconds.
    static let worthOfTime = 16
    /// The number of responses that make up for a processor that another thread kept for some milliseconds.
    static let worthOfProcessor = 256

    /// True if there is a program at the other end.
    var isAllowed = false
    private var shortWaits = 0
    private var needed = quorum.lowerBound
    /// The number of responses since polling was last unsuccessful.
    private var answers = 0

    /// True if the next wait starts with polling.
    var isDue: Bool { isAllowed && shortWaits >= needed }

    /// Returns the end of ``longest`` for a start.
    static func end(from now: Instant) -> Instant { now.later(byNanoseconds: longestNanoseconds) }

    /// Records the duration of a wait.
    mutating func slept(from begin: Instant, to end: Instant) {
        shortWaits = end <= Self.end(from: begin) ? min(shortWaits + 1, Self.quorum.upperBound) : 0
    }

    /// Records the end of polling, after a number of unreported successful times.
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
