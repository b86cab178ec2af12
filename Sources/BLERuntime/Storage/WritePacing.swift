package import BLEWire

/// The times at which changes are written.
///
/// Urgent changes are written immediately, but at most once a second; after a pause, a burst of several writes may be
/// allowed. Other changes are written together with urgent ones, or after a minute.
package struct WritePacing: Sendable {
    /// The urgency of a change: `soon` changes cause a write, `later` ones can wait for another change's write.
    package enum Urgency: Equatable, Sendable { case later, soon }

    private enum State {
        /// Nothing has changed since the last write.
        case clean(budgetEnd: Instant)
        case due(at: Instant, budgetEnd: Instant)
        /// A write is in progress. `next` is the urgency of the changes made since it started; `nil` if there are none.
        case writing(next: Urgency?, budgetEnd: Instant)
    }

    private static let interval = Duration.seconds(1)
    private static let laterDelay = Duration.seconds(60)

    /// The number of writes that may follow each other without a pause.
    private let burst: Int
    /// The state, with `budgetEnd`, which limits writes like a token bucket.
    ///
    /// Each write that ends moves `budgetEnd` to one second after its previous value or after now, whichever is later.
    /// A write may start once `budgetEnd` is at most `burst` − 1 seconds away; from `budgetEnd` on, a full burst is
    /// allowed.
    private var state = State.clean(budgetEnd: Instant())

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

    /// Records a change of this urgency; returns whether the deadline has changed.
    package mutating func changed(_ urgency: Urgency, at now: Instant) -> OnChange {
        let action: OnChange
        (state, action) =
            switch state {
            case .clean(let budgetEnd): schedule(urgency, budgetEnd: budgetEnd, at: now)
            case .due(let instant, let budgetEnd)
            where urgency == .soon && instant > max(now, earliestWrite(budgetEnd)):
                schedule(urgency, budgetEnd: budgetEnd, at: now)
            case .due: (state, .wait)
            case .writing(next: .soon, _): (state, .wait)
            case .writing(_, let budgetEnd): (.writing(next: urgency, budgetEnd: budgetEnd), .wait)
            }
        return action
    }

    package enum OnBegin: Equatable {
        case write
        case wait
    }

    /// Starts a write if one is due; returns whether to write now.
    ///
    /// With `isLast`, a write is due as soon as there are changes. No write is due while another one is in progress.
    package mutating func begin(at now: Instant, isLast: Bool = false) -> OnBegin {
        let action: OnBegin
        (state, action) =
            switch state {
            case .due(let instant, let budgetEnd) where instant <= now || isLast:
                (.writing(next: nil, budgetEnd: budgetEnd), .write)
            case .clean, .due, .writing: (state, .wait)
            }
        return action
    }

    /// Records the end of a write; returns whether the deadline has changed.
    ///
    /// If the write failed, its changes remain to be written.
    package mutating func ended(isWritten: Bool, at now: Instant) -> OnChange {
        let action: OnChange
        (state, action) =
            switch state {
            case .writing(let next?, let budgetEnd): schedule(next, budgetEnd: addingWrite(budgetEnd, at: now), at: now)
            case .writing(next: nil, let budgetEnd) where !isWritten:
                schedule(.later, budgetEnd: addingWrite(budgetEnd, at: now), at: now)
            case .writing(next: nil, let budgetEnd): (.clean(budgetEnd: addingWrite(budgetEnd, at: now)), .wait)
            case .clean, .due: (state, .wait)
            }
        return action
    }

    private func addingWrite(_ budgetEnd: Instant, at now: Instant) -> Instant { max(budgetEnd, now) + Self.interval }

    /// The earliest time of the next write.
    private func earliestWrite(_ budgetEnd: Instant) -> Instant { budgetEnd + Self.interval * (1 - burst) }

    private func schedule(_ urgency: Urgency, budgetEnd: Instant, at now: Instant) -> (State, OnChange) {
        let instant =
            switch urgency {
            case .soon: max(now, earliestWrite(budgetEnd))
            case .later: now + Self.laterDelay
            }
        return (.due(at: instant, budgetEnd: budgetEnd), .wake(at: instant))
    }
}
