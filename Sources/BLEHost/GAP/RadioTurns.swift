import BLEWire

/// Alternating turns of scanning and connecting, for controllers that cannot do both at the same time.
struct RadioTurns {
    /// The length of a turn.
    static let length = Duration.seconds(1)

    /// The activity that has the turn.
    enum Turn { case scanning, connecting }

    private enum State {
        /// Only one of them is wanted, and it may continue.
        case free
        case turn(Turn, until: Instant)
    }

    private var state = State.free

    /// The end of the turn, if there is one.
    var deadline: Instant? {
        if case .turn(_, let until) = state { until } else { nil }
    }

    /// Returns the activity that has the turn; `nil` if both may run.
    ///
    /// They contend if both are wanted and the controller supports only one at a time. Connecting comes first, because
    /// its peer was already found.
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
