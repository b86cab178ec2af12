package import BLEWire

/// The timing of writes: immediately, but at most once a second.
///
/// Changes that can wait are written together with others, or after a minute.
package struct WritePacing: Sendable {
    /// What is to be stored as soon as can be, and what can wait for it.
    package enum Urgency: Equatable, Sendable { case later, soon }

    private enum State {
        /// Nothing has changed since the last writing.
        case clean(spent: Instant)
        case due(at: Instant, spent: Instant)
        /// A write is in progress; with the urgency of changes made meanwhile, if there are any.
        case writing(next: Urgency?, spent: Instant)
    }

    private static let rest = Duration.seconds(1)
    private static let patience = Duration.seconds(60)

    /// How many times may be written in succession before each rest counts.
    private let burst: Int
    /// `spent` is when all writings would have been, had each been followed by a rest.
    private var state = State.clean(spent: Instant())

    /// Creates a pace that lets so many writings follow each other at once, then one a second.
    package init(burst: Int = 1) {
        precondition(burst > 0, "the burst must be positive")
        self.burst = burst
    }

    /// The time of the next write unless something happens first.
    var deadline: Instant? {
        if case .due(let instant, _) = state { instant } else { nil }
    }

    package enum OnChange: Equatable {
        /// The deadline has changed.
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

    /// Starts a write if it is time, or if the process is about to end and there are changes.
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

    /// Records the end of a write; failed changes remain to be written.
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

    /// When the next writing may be.
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
