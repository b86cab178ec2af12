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
        case preempted
    }

    /// The maximum time of polling, and of a wait that counts as short.
    ///
    /// A program on the same machine responds within it; a packet on the air takes longer.
    static let longest = Duration.nanoseconds(longestNanoseconds)
    // Counted before and after each wait, and durations are twice as wide.
    private static let longestNanoseconds: Int64 = 200_000
    /// Consecutive short waits before polling starts: initial and maximum.
    static let shortWaitsBeforePolling = 8...4_096
    /// The number of polls of the program per poll of everything else.
    static let readsPerPoll = 8
    /// The number of responses that make up for one unsuccessful time of polling; each saves a wake-up of some ten
    /// microseconds.
    static let responsesPerFailure = 16
    /// The number of responses that make up for a processor that another thread kept for some milliseconds.
    static let responsesPerPreemption = 256

    /// True if there is a program at the other end.
    var isAllowed = false
    private var shortWaits = 0
    private var needed = shortWaitsBeforePolling.lowerBound
    /// The number of responses since polling was last unsuccessful.
    private var responses = 0

    /// True if the next wait starts with polling.
    var isDue: Bool { isAllowed && shortWaits >= needed }

    /// Returns the end of ``longest`` for a start.
    static func end(from now: Instant) -> Instant { now.later(byNanoseconds: longestNanoseconds) }

    /// Records the duration of a wait.
    mutating func waited(from begin: Instant, to end: Instant) {
        shortWaits = end <= Self.end(from: begin) ? min(shortWaits + 1, Self.shortWaitsBeforePolling.upperBound) : 0
    }

    /// Records the end of polling, after a number of unreported successful times.
    mutating func ended(_ outcome: Outcome, after responses: Int = 0) {
        self.responses = min(self.responses + min(responses, Self.responsesPerPreemption), Self.responsesPerPreemption)
        switch outcome {
        case .answered: self.responses = min(self.responses + 1, Self.responsesPerPreemption)
        case .unanswered: giveUp(unless: Self.responsesPerFailure)
        case .preempted: giveUp(unless: Self.responsesPerPreemption)
        }
    }

    private mutating func giveUp(unless worth: Int) {
        needed =
            responses < worth
            ? min(2 * needed, Self.shortWaitsBeforePolling.upperBound) : Self.shortWaitsBeforePolling.lowerBound
        responses = 0
        shortWaits = 0
    }
}
