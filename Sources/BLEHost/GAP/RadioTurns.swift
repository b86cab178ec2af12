import BLEWire

/// Has a controller that cannot scan while it tries to connect do the one and the other by turns.
struct RadioTurns {
    /// How long a turn is.
    static let length = Duration.seconds(1)

    /// Whose turn it is.
    enum Turn { case scanning, connecting }

    private enum State {
        /// One of them is not wanted, so that the other may go on.
        case free
        case turn(Turn, until: Instant)
    }

    private var state = State.free

    /// When the turn is over, if it is anybody's.
    var deadline: Instant? {
        if case .turn(_, let until) = state { until } else { nil }
    }

    /// Whose turn it is now; `nil` if both may do what they want.
    ///
    /// They contend if both are wanted and the controller can do only one at a time. Connecting comes first: whoever
    /// connects has found already what was scanned for.
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
