import BLEWire

/// The turns that scanning and connecting take on a controller that cannot do both at the same time.
struct RadioTurns {
    static let length = Duration.seconds(1)

    /// The activity that has the turn.
    enum Turn { case scanning, connecting }

    private enum State {
        /// Scanning and connecting may both run, because at most one is wanted or the controller supports both at the
        /// same time.
        case free
        case turn(Turn, until: Instant)
    }

    private var state = State.free

    /// The time at which the current turn ends; `nil` if there are no turns.
    var deadline: Instant? {
        if case .turn(_, let until) = state { until } else { nil }
    }

    /// Returns the activity that has the turn; `nil` if both may run.
    ///
    /// `isContended` is true if scanning and connecting are both wanted and the controller supports only one at a time.
    /// Connecting has the first turn, because the peer to connect to has already been found.
    mutating func turn(isContended: Bool, at now: Instant) -> Turn? {
        guard isContended else {
            state = .free
            return nil
        }
        switch state {
        case .free: state = .turn(.connecting, until: now + Self.length)
        case .turn(let turn, let until) where until <= now:
            state = .turn(turn == .connecting ? .scanning : .connecting, until: now + Self.length)
        case .turn: break
        }
        guard case .turn(let turn, _) = state else { return nil }
        return turn
    }
}
