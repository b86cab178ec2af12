import BLEWire

/// When to write what changes again and again: at once, but not more often than every second.
///
/// What can wait is written together with what cannot, or after a minute.
struct WritePacing {
    private enum State {
        /// Nothing has changed since the last writing, which is not to be followed by another one before this instant.
        case clean(rested: Instant)
        case due(at: Instant, rested: Instant)
        /// This is how urgent what has changed since the writing began is, if anything has.
        case writing(next: PeerChange.Urgency?)
    }

    private static let rest = Duration.seconds(1)
    private static let patience = Duration.seconds(60)

    private var state = State.clean(rested: Instant())

    /// When to write, if nothing happens before.
    var deadline: Instant? {
        if case .due(let instant, _) = state { instant } else { nil }
    }

    enum OnChange: Equatable {
        /// The deadline is another one now.
        case wake(at: Instant)
        case wait
    }

    /// Something has changed.
    mutating func changed(_ urgency: PeerChange.Urgency, at now: Instant) -> OnChange {
        let action: OnChange
        (state, action) =
            switch state {
            case .clean(let rested): Self.schedule(urgency, rested: rested, at: now)
            case .due(let instant, let rested) where urgency == .soon && instant > max(now, rested):
                Self.schedule(urgency, rested: rested, at: now)
            case .due: (state, .wait)
            case .writing(next: .soon): (state, .wait)
            case .writing: (.writing(next: urgency), .wait)
            }
        return action
    }

    enum OnBegin: Equatable {
        case write
        case wait
    }

    /// Whoever wants to write may do so now, if it is time, or if there is no more time and anything has changed.
    mutating func begin(at now: Instant, isLast: Bool = false) -> OnBegin {
        let action: OnBegin
        (state, action) =
            switch state {
            case .due(let instant, _) where instant <= now || isLast: (.writing(next: nil), .write)
            case .clean, .due, .writing: (state, .wait)
            }
        return action
    }

    /// What had changed when the writing began was written, or is still to be if it failed.
    mutating func ended(isWritten: Bool, at now: Instant) -> OnChange {
        let action: OnChange
        (state, action) =
            switch state {
            case .writing(let next?): Self.schedule(next, rested: now + Self.rest, at: now)
            case .writing(next: nil) where !isWritten: Self.schedule(.later, rested: now + Self.rest, at: now)
            case .writing(next: nil): (.clean(rested: now + Self.rest), .wait)
            case .clean, .due: (state, .wait)
            }
        return action
    }

    private static func schedule(
        _ urgency: PeerChange.Urgency,
        rested: Instant,
        at now: Instant
    ) -> (State, OnChange) {
        let instant =
            switch urgency {
            case .soon: max(now, rested)
            case .later: now + patience
            }
        return (.due(at: instant, rested: rested), .wake(at: instant))
    }
}
