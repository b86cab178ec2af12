import BLEWire

/// How far the host is with finding out what has changed at a peer that refuses requests because of that.
///
///                refused              bearer free             known
///        ┌──────┐ ─────▶ ┌──────────┐ ─────────▶ ┌─────────┐ ─────▶ none
///        │ none │        │ required │            │ reading │
///        └──────┘        └──────────┘            └─────────┘
///            ▲                                        │ another hash, or none
///            │ all was looked at, or there is too much ▼
///            └─────────────────────────────────── ┌─────────┐
///                                                 │ looking │
///                                                 └─────────┘
///
/// Nobody asks for anything meanwhile: handles may be those of something else.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct CatchingUp {
    private enum State {
        case none
        /// `isTold` if the peer has said what has changed.
        case required(isTold: Bool)
        /// The Database Hash is being read, which tells the peer that this host catches up.
        case reading(isTold: Bool)
        /// What clients were told is looked at again.
        case looking(requests: Int)
    }

    /// How many requests look at what clients were told, before all of that is void instead.
    static let mostRequests = 16

    private var state = State.none
    /// Whether the peer has said what changed since the host last caught up.
    private var wasTold = false
    /// Whether what clients were told can still be compared with what there is.
    private var isComparable = true

    var isUnderWay: Bool {
        if case .none = state { false } else { true }
    }

    /// Takes note that the peer has said what has changed.
    mutating func told() { wasTold = true }

    /// Begins, if that has not been done; `isTold` if the peer has said what has changed since the request.
    mutating func require(isTold: Bool) {
        guard !isUnderWay else { return }
        state = .required(isTold: isTold || wasTold)
    }

    /// Gives up.
    mutating func stop() { state = .none }

    enum OnNext: Equatable {
        case nothing
        case readHash
        /// Look at the next part of what clients were told.
        case look
    }

    /// What to ask next, now that the bearer is free.
    mutating func next() -> OnNext {
        switch state {
        case .none, .reading: return .nothing
        case .required(let isTold):
            state = .reading(isTold: isTold)
            return .readHash
        case .looking(let requests):
            state = .looking(requests: requests + 1)
            return .look
        }
    }

    enum OnReceive: Equatable {
        case proceed
        /// Have all that clients were told looked at again.
        case check
    }

    /// Takes what came of a step; then changes that were seen are told, and ``conclude(_:)`` follows.
    mutating func receive(_ outcome: Procedure.Outcome, _ database: PeerDatabase) -> OnReceive {
        isComparable = !database.isForgotten
        switch (state, outcome) {
        case (.reading(let isTold), .databaseHash(let hash)):
            let isSame = isComparable && hash != nil && hash == database.hash && database.isVerified
            guard !isTold, !isSame else {
                state = .none
                return .proceed
            }
            state = .looking(requests: 0)
            return .check
        case (.looking, .found(.success, _)): break
        default: isComparable = false
        }
        return .proceed
    }

    enum OnConclude: Equatable {
        /// There is more to look at.
        case goOn
        case caughtUp
        /// It is not known what has changed: all that clients were told is void.
        case lost
    }

    /// Whether that was all.
    mutating func conclude(_ database: PeerDatabase) -> OnConclude {
        guard case .looking(let requests) = state else { return end(.caughtUp) }
        if isComparable, database.isVerified { return end(.caughtUp) }
        return isComparable && requests < Self.mostRequests ? .goOn : end(.lost)
    }

    private mutating func end(_ event: OnConclude) -> OnConclude {
        state = .none
        wasTold = false
        return event
    }
}
