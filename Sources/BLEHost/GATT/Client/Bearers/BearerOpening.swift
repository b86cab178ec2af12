import BLEWire

/// Has the peer open enhanced bearers, once it has said that it can.
///
///        ┌──────┐ want  ┌───────────┐ it can ┌────────┐ answered
///        │ idle │ ────▶ │ inquiring │ ─────▶ │ asking │ ─────────▶ done
///        └──────┘       └───────────┘        └────────┘
///                                              ▲    │ no resources
///                                  time is up  │    ▼
///                                            ┌─────────┐
///                                            │ waiting │
///                                            └─────────┘
///
/// If both ends ask at once, and neither has room for both, both may be refused: then a central asks again at once, and
/// a peripheral leaves it some time.
///
/// Core 6.0, Vol 3, Part G, 5.4.
struct BearerOpening {
    private enum State {
        case idle
        case inquiring
        case asking(unanswered: Int, attempts: Int)
        case waiting(until: Instant, attempts: Int)
        case done
    }

    /// How many bearers are asked for.
    static let count = 3
    /// How often they are asked for in all.
    static let mostAttempts = 3

    private var state = State.idle

    /// When to call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? {
        if case .waiting(let deadline, _) = state { deadline } else { nil }
    }

    enum OnWant: Equatable {
        /// Ask the peer whether it can open bearers.
        case inquire
        /// That has been done.
        case nothing
    }

    /// There is use for bearers, and the link is good enough for them.
    mutating func want() -> OnWant {
        guard case .idle = state else { return .nothing }
        state = .inquiring
        return .inquire
    }

    enum OnEvent: Equatable {
        case nothing
        /// Ask the peer for ``count`` bearers.
        case open
    }

    /// The peer says whether it opens bearers; nobody asks if there are some already.
    mutating func inquired(isOffered: Bool) -> OnEvent {
        guard case .inquiring = state else { return .nothing }
        guard isOffered else {
            state = .done
            return .nothing
        }
        state = .asking(unanswered: Self.count, attempts: 1)
        return .open
    }

    /// A bearer is open.
    mutating func opened() { if case .asking = state { state = .done } }

    /// A bearer that was asked for is not opened; `retryDelay` is how long this end has to wait before it asks again.
    mutating func refused(_ failure: Failure, retryDelay: Duration, at now: Instant) -> OnEvent {
        guard case .asking(let unanswered, let attempts) = state else { return .nothing }
        guard unanswered <= 1 else {
            state = .asking(unanswered: unanswered - 1, attempts: attempts)
            return .nothing
        }
        guard failure == .channel(.insufficientResources), attempts < Self.mostAttempts else {
            state = .done
            return .nothing
        }
        guard retryDelay > .zero else {
            state = .asking(unanswered: Self.count, attempts: attempts + 1)
            return .open
        }
        state = .waiting(until: now + retryDelay, attempts: attempts)
        return .nothing
    }

    /// Asks again if the time has come; `hasBearers` if the peer has opened some meanwhile.
    mutating func expire(at now: Instant, hasBearers: Bool) -> OnEvent {
        guard case .waiting(let deadline, let attempts) = state, deadline <= now else { return .nothing }
        state = hasBearers ? .done : .asking(unanswered: Self.count, attempts: attempts + 1)
        return hasBearers ? .nothing : .open
    }
}
