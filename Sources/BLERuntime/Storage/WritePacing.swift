package import BLEWire

/// The times at which changes are written: immediately if they are urgent, but at most once a second.
///
/// Other changes are written together with urgent ones, or after a minute.
package struct WritePacing: Sendable {
    /// The urgency of a change: `soon` changes cause a write, `later` ones can wait for another change's write.
    package enum Urgency: Equatable, Sendable { case later, soon }

    private enum State {
        /// Nothing has changed since the last write.
        case clean(spent: Instant)
        case due(at: Instant, spent: Instant)
        /// A write is in progress. `next` is the urgency of the changes made since it started; `nil` if there are none.
        case writing(next: Urgency?, spent: Instant)
    }

    private static let rest = Duration.seconds(1)
    private static let patience = Duration.seconds(60)

    /// The number of writes that may follow each other without a rest.
    private let burst: Int
    /// The state.
    ///
    /// `spent` is the time at which all writes so far would be over if each were followed by a rest.
    private var state = State.clean(spent: Instant())

    /// Creates a pacing that allows `burst` writes in immediate succession, and then one a second.
    package init(burst: Int = 1) {
        precondition(burst > 0, "the burst must be positive")
        self.burst = burst
    }

    /// The time of the next write; `nil` if there is nothing to write.
    var deadline: Instant? {
        if case .due(let instant, _) = state { instant } else { nil }
    }

    package enum OnChange: Equatable {
        /// The deadline has changed to this time.
        case wake(at: Instant)
        case wait
    }

    /// Records a change.
    package mutating func changed(_ urgency: Urgency, at now: Instant) -> OnChange {
        let action: OnChange
        (state, action) =
            switch state {
            case .clean(let spent): schedule(urgency, spent: spent, at: now)
            case .due(let instant, let spent) where urgency == .soon && instant > max(now, rested(spent)):
                schedule(urgency, spent: spent, at: now)
            case .due: (state, .wait)
            case .writing(next: .soon, _): (state, .wait)
            case .writing(_, let spent): (.writing(next: urgency, spent: spent), .wait)
            }
        return action
    }

    package enum OnBegin: Equatable {
        case write
        case wait
    }

    /// Returns whether to start a write now: if it is time, or with `isLast` if there are any changes.
    package mutating func begin(at now: Instant, isLast: Bool = false) -> OnBegin {
        let action: OnBegin
        (state, action) =
            switch state {
            case .due(let instant, let spent) where instant <= now || isLast:
                (.writing(next: nil, spent: spent), .write)
            case .clean, .due, .writing: (state, .wait)
            }
        return action
    }

    /// Records the end of a write.
    ///
    /// If it failed, its changes remain to be written.
    package mutating func ended(isWritten: Bool, at now: Instant) -> OnChange {
        let action: OnChange
        (state, action) =
            switch state {
            case .writing(let next?, let spent): schedule(next, spent: counted(spent, at: now), at: now)
            case .writing(next: nil, let spent) where !isWritten:
                schedule(.later, spent: counted(spent, at: now), at: now)
            case .writing(next: nil, let spent): (.clean(spent: counted(spent, at: now)), .wait)
            case .clean, .due: (state, .wait)
            }
        return action
    }

    private func counted(_ spent: Instant, at now: Instant) -> Instant { max(spent, now) + Self.rest }

    /// The earliest time of the next write.
    private func rested(_ spent: Instant) -> Instant { spent + Self.rest * (1 - burst) }

    private func schedule(_ urgency: Urgency, spent: Instant, at now: Instant) -> (State, OnChange) {
        let instant =
            switch urgency {
            case .soon: max(now, rested(spent))
            case .later: now + Self.patience
            }
        return (.due(at: instant, spent: spent), .wake(at: instant))
    }
}
