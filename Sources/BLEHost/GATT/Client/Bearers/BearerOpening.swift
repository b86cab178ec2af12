import BLEWire

/// The state machine that opens enhanced bearers once the peer has announced that it supports them.
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
/// If both ends request bearers at the same time and neither has room for both requests, both requests may be refused.
/// A central then repeats its request immediately, a peripheral after a delay.
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

    /// The number of bearers to request at a time.
    static let count = 3
    /// The maximum number of times that bearers are requested on a link.
    static let mostAttempts = 3

    private var state = State.idle

    /// The time to call ``expire(at:hasBearers:)`` next; `nil` if nothing is due.
    var deadline: Instant? {
        if case .waiting(let deadline, _) = state { deadline } else { nil }
    }

    enum OnWant: Equatable {
        /// Ask the peer whether it supports bearers.
        case inquire
        /// Do nothing.
        case nothing
    }

    /// Records that clients would benefit from bearers, and that the link is secure enough for them.
    mutating func want() -> OnWant {
        guard case .idle = state else { return .nothing }
        state = .inquiring
        return .inquire
    }

    enum OnEvent: Equatable {
        case nothing
        /// Request ``count`` bearers from the peer.
        case open
    }

    /// Records whether the peer supports bearers (`isOffered`), and returns whether to request them now.
    ///
    /// Also pass `false` if the link already has enhanced bearers or is no longer encrypted.
    mutating func inquired(isOffered: Bool) -> OnEvent {
        guard case .inquiring = state else { return .nothing }
        guard isOffered else {
            state = .done
            return .nothing
        }
        state = .asking(unanswered: Self.count, attempts: 1)
        return .open
    }

    /// Records that a bearer was opened.
    mutating func opened() { if case .asking = state { state = .done } }

    /// Records that the peer refused one of the requested bearers.
    ///
    /// `retryDelay` is the time that this host has to wait before it may request bearers again.
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

    /// Repeats the request if it is due, unless the peer has opened enhanced bearers in the meantime (`hasBearers`).
    mutating func expire(at now: Instant, hasBearers: Bool) -> OnEvent {
        guard case .waiting(let deadline, let attempts) = state, deadline <= now else { return .nothing }
        state = hasBearers ? .done : .asking(unanswered: Self.count, attempts: attempts + 1)
        return hasBearers ? .nothing : .open
    }
}
