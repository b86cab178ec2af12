import BLEWire

/// The policy that decides whether a loop polls for a short time before its thread sleeps.
///
/// A program at the other end of a socket responds faster than a sleeping processor wakes up, so two programs that
/// exchange messages would spend most of their time on wake-ups. Polling pays off if recent waits were short and no
/// other thread needs the processor. Each time that polling has not paid off, twice as many short waits are required
/// before the next attempt.
struct BusyPolling {
    /// The reason why polling ended.
    enum Outcome {
        case answered
        /// ``longest`` passed, and no response arrived.
        case unanswered
        /// The polling thread yielded, and another thread kept the processor for longer than ``longest``.
        case preempted
    }

    /// The longest time to poll for a response; waits up to this length count as short.
    ///
    /// A program on the same machine responds within this time; a packet over the air takes longer.
    static let longest = Duration.nanoseconds(longestNanoseconds)
    // Nanoseconds, because the end is computed before and after each wait, and a `Duration` is twice as wide.
    private static let longestNanoseconds: Int64 = 200_000
    /// Consecutive short waits before polling starts: initial and maximum.
    static let shortWaitsBeforePolling = 8...4_096
    /// The number of responses that make up for one failure of polling.
    ///
    /// Each response saves a wake-up of about ten microseconds.
    static let responsesPerFailure = 16
    /// The number of responses that make up for one case in which another thread kept the processor.
    ///
    /// Such a case can cost some milliseconds.
    static let responsesPerPreemption = 256

    /// True if a program is at the other end of a watched socket, so that polling may pay off.
    var isAllowed = false
    private var shortWaits = 0
    private var needed = shortWaitsBeforePolling.lowerBound
    /// The number of responses since polling last failed.
    private var responses = 0

    /// True if the next wait starts with polling.
    var isDue: Bool { isAllowed && shortWaits >= needed }

    /// Returns the time at which polling that starts at `now` must end.
    static func end(from now: Instant) -> Instant { now.later(byNanoseconds: longestNanoseconds) }

    /// Records the duration of a wait.
    mutating func waited(from begin: Instant, to end: Instant) {
        shortWaits = end <= Self.end(from: begin) ? min(shortWaits + 1, Self.shortWaitsBeforePolling.upperBound) : 0
    }

    /// Records the end of polling.
    mutating func ended(_ outcome: Outcome) {
        switch outcome {
        case .answered: responses = min(responses + 1, Self.responsesPerPreemption)
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
