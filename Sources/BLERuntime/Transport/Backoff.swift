/// The delays between connection attempts, and the rule for when to report that there is no controller.
///
/// The first attempts follow each other quickly, in case the controller is restarting; later ones are 5 s apart.
package struct Backoff: Equatable {
    /// The next step after a failed attempt.
    struct Step: Equatable {
        /// The delay before the next attempt.
        var delay: Duration
        /// True if it must be reported after this attempt that there is no controller.
        var isAbsent: Bool
    }

    /// The first and the longest delay between two attempts.
    package static let pauses = Duration.milliseconds(100)...Duration.seconds(5)
    static let shortest = pauses.lowerBound
    /// The time that a connection must have lasted for its controller to count as working.
    ///
    /// If the host gives up on a controller that counts as working, the next attempt comes soon.
    static let workingConnectionTime = Duration.seconds(30)

    /// The number of failed attempts after which a controller counts as absent, if there has been a connection before.
    private static let failuresBeforeAbsent = 3

    private let pauses: ClosedRange<Duration>
    private var failures = 0
    private var hasConnected = false

    init(_ pauses: ClosedRange<Duration> = Self.pauses) { self.pauses = pauses }

    /// True if there have been so many failures that the controller counts as absent.
    var isAbsent: Bool { failures >= mostFailures }

    private var mostFailures: Int { hasConnected ? Self.failuresBeforeAbsent : 1 }

    /// Records that a connection was accepted, possibly by a program that is not a controller.
    mutating func connected() { hasConnected = true }

    /// Forgets earlier failures, because the connection is usable or was ended on purpose.
    mutating func succeeded() {
        failures = 0
        hasConnected = true
    }

    /// Records a failed attempt: the connection was refused, or the other end is not a controller.
    ///
    /// A controller counts as absent after the first failure if there has never been a connection, and otherwise after
    /// the third. ``Step/isAbsent`` is true only for the failure with which the controller begins to count as absent.
    mutating func failed() -> Step {
        let longest = pauses.upperBound
        let delay = failures < 6 ? min(longest, pauses.lowerBound * (1 << failures)) : longest
        failures = min(failures + 1, 1_000)
        return Step(delay: delay, isAbsent: failures == mostFailures)
    }
}
