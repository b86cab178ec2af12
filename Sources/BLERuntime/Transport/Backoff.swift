/// The delays between connection attempts, and the decision when to report that there is no controller.
///
/// The first attempts follow quickly, for a controller that restarts; later ones are 5 s apart.
package struct Backoff: Equatable {
    /// The consequence of a failed attempt.
    struct Step: Equatable {
        /// The delay before the next attempt.
        var delay: Duration
        /// True to report now that there is no controller.
        var isAbsent: Bool
    }

    /// The first and the longest delay.
    package static let pauses = Duration.milliseconds(100)...Duration.seconds(5)
    static let shortest = pauses.lowerBound
    /// A controller that the host gave up on after so long has worked before, and is tried again soon.
    static let probation = Duration.seconds(30)

    /// The number of failed attempts, after a successful connection, before the controller counts as absent.
    private static let patience = 3

    private let pauses: ClosedRange<Duration>
    private var failures = 0
    private var hasConnected = false

    init(_ pauses: ClosedRange<Duration> = Self.pauses) { self.pauses = pauses }

    /// True if there seems to be no controller.
    var isAbsent: Bool { failures >= mostFailures }

    private var mostFailures: Int { hasConnected ? Self.patience : 1 }

    /// Records that a connection was accepted, though not necessarily by a controller.
    mutating func connected() { hasConnected = true }

    /// Records that the connection is to a controller.
    mutating func succeeded() {
        failures = 0
        hasConnected = true
    }

    /// Records a failed attempt: the connection was refused, or not to a controller.
    ///
    /// A transport that never worked is absent after the first failure, a lost one after the third; it is reported
    /// once.
    mutating func failed() -> Step {
        let longest = pauses.upperBound
        let delay = failures < 6 ? min(longest, pauses.lowerBound * (1 << failures)) : longest
        failures = min(failures + 1, 1_000)
        return Step(delay: delay, isAbsent: failures == mostFailures)
    }
}
