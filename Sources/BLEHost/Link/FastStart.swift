import BLEWire

/// The state machine of the short connection interval with which a new link begins.
///
///        ┌───────┐ idle for `pause`, or `maximum` has passed
///        │ short │ ──────────────────────────────────────────▶ over: request the usual interval
///        └───────┘
///            │ other parameters were requested
///            └───────────────────────────────────────────────▶ over
///
/// A client's first requests depend on each other: services, characteristics, a subscription. Each takes two connection
/// intervals, so a short interval makes the first values available sooner. Afterwards the short interval would only
/// cost energy.
struct FastStart {
    /// The time without client requests after which the short interval ends.
    static let pause = Duration.seconds(1)
    /// The maximum time that the short interval is used for.
    static let maximum = Duration.seconds(5)
    /// The maximum number of links that use the short interval at the same time.
    static let mostLinks = 4

    private enum State {
        case over
        /// The link uses the short interval, but not beyond `end`. The next check is due at `due`.
        case short(end: Instant, due: Instant)
    }

    private var state = State.over

    var isUnderWay: Bool {
        if case .short = state { true } else { false }
    }

    /// The time at which to call ``check(quietSince:at:)``.
    var deadline: Instant? {
        if case .short(_, let due) = state { due } else { nil }
    }

    /// Records that the link was made with the short interval.
    mutating func begin(at now: Instant) { state = .short(end: now + Self.maximum, due: now + Self.pause) }

    /// Records that other connection parameters apply, or were requested.
    mutating func stop() { state = .over }

    enum OnCheck: Equatable {
        /// Nothing is due, or clients are still making requests.
        case wait
        /// Request the usual interval.
        case lengthen
    }

    /// Checks whether clients are idle.
    ///
    /// `quietSince` is the time at which clients last stopped making requests; `nil` if a request is in progress.
    mutating func check(quietSince: Instant?, at now: Instant) -> OnCheck {
        guard case .short(let end, let due) = state, due <= now else { return .wait }
        let idle = (quietSince ?? now) + Self.pause
        guard now < min(idle, end) else {
            state = .over
            return .lengthen
        }
        state = .short(end: end, due: min(idle, end))
        return .wait
    }
}
