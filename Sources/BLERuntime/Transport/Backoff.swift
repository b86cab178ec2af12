/// How long to wait between attempts to connect, and when to say that there is nobody.
///
/// The first attempts follow quickly, for a controller that restarts; later ones are 5 s apart.
package struct Backoff: Equatable {
    /// What an attempt that failed leads to.
    struct Step: Equatable {
        /// How long to wait before the next attempt.
        var delay: Duration
        /// Whether to say now that there is no controller.
        var isAbsent: Bool
    }

    /// The first pause and the longest.
    package static let pauses = Duration.milliseconds(100)...Duration.seconds(5)
    static let shortest = pauses.lowerBound
    /// A controller that the host gave up on after so long has worked before, and is tried again soon.
    static let probation = Duration.seconds(30)

    /// How many attempts may fail after there was a connection before the controller counts as absent.
    private static let patience = 3

    private let pauses: ClosedRange<Duration>
    private var failures = 0
    private var hasConnected = false

    init(_ pauses: ClosedRange<Duration> = Self.pauses) { self.pauses = pauses }

    /// Whether there is no controller, as far as anybody can tell.
    var isAbsent: Bool { failures >= mostFailures }

    private var mostFailures: Int { hasConnected ? Self.patience : 1 }

    /// Somebody took the connection, which need not be a controller.
    mutating func connected() { hasConnected = true }

    /// The connection is, or was, one to a controller.
    mutating func succeeded() {
        failures = 0
        hasConnected = true
    }

    /// An attempt failed: nobody took the connection, or whoever did was no controller.
    ///
    /// A transport that never came up is absent with the first failure, one that was lost with the third; it is said
    /// once.
    mutating func failed() -> Step {
        let longest = pauses.upperBound
        let delay = failures < 6 ? min(longest, pauses.lowerBound * (1 << failures)) : longest
        failures = min(failures + 1, 1_000)
        return Step(delay: delay, isAbsent: failures == mostFailures)
    }
}
