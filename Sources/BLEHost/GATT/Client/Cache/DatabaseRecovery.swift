import BLEWire

/// The recovery of a client whose peer rejects requests because its database has changed.
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
/// No requests are made meanwhile, because handles may belong to other attributes.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct DatabaseRecovery {
    private enum State {
        case none
        /// `wasReported` is true if the peer has reported the changed range.
        case required(wasReported: Bool)
        /// The Database Hash is being read, which makes the client change-aware.
        case reading(wasReported: Bool)
        /// The attributes that were reported to clients are being verified.
        case verifying(requests: Int)
    }

    /// The maximum number of requests to verify attributes; beyond it, all attributes are invalidated.
    static let mostRequests = 16

    private var state = State.none
    /// True if the peer has reported a change since the last recovery.
    private var hasReportedChange = false
    /// True if the attributes that were reported to clients can still be compared with the peer's.
    private var isComparable = true

    var isUnderWay: Bool {
        if case .none = state { false } else { true }
    }

    /// Records that the peer has reported a change.
    mutating func noteReportedChange() { hasReportedChange = true }

    /// Starts the recovery, unless it is in progress.
    ///
    /// `wasReported` is true if the peer has reported a change since the request.
    mutating func require(wasReported: Bool) {
        guard !isUnderWay else { return }
        state = .required(wasReported: wasReported || hasReportedChange)
    }

    /// Ends the recovery.
    mutating func stop() { state = .none }

    enum OnNext: Equatable {
        case nothing
        case readHash
        /// Verify the next part of what was reported to clients.
        case verify
    }

    /// Returns the next action, now that the bearer is free.
    mutating func next() -> OnNext {
        switch state {
        case .none, .reading: return .nothing
        case .required(let wasReported):
            state = .reading(wasReported: wasReported)
            return .readHash
        case .verifying(let requests):
            state = .verifying(requests: requests + 1)
            return .verify
        }
    }

    enum OnReceive: Equatable {
        case proceed
        /// Verify everything that was reported to clients.
        case check
    }

    /// Processes the result of a step.
    ///
    /// Afterwards, detected changes are reported, and ``conclude(_:)`` is called.
    mutating func receive(_ outcome: Procedure.Outcome, _ database: PeerDatabase) -> OnReceive {
        isComparable = !database.isForgotten
        switch (state, outcome) {
        case (.reading(let wasReported), .databaseHash(let hash)):
            let isSame = isComparable && hash != nil && hash == database.hash && database.isVerified
            guard !wasReported, !isSame else {
                state = .none
                return .proceed
            }
            state = .verifying(requests: 0)
            return .check
        case (.verifying, .found(.success, _)): break
        default: isComparable = false
        }
        return .proceed
    }

    enum OnConclude: Equatable {
        /// There is more to verify.
        case verifyMore
        case recovered
        /// The change is unknown: everything that was reported to clients is invalid.
        case lost
    }

    /// Returns whether the recovery is complete.
    mutating func conclude(_ database: PeerDatabase) -> OnConclude {
        guard case .verifying(let requests) = state else { return end(.recovered) }
        if isComparable, database.isVerified { return end(.recovered) }
        return isComparable && requests < Self.mostRequests ? .verifyMore : end(.lost)
    }

    private mutating func end(_ event: OnConclude) -> OnConclude {
        state = .none
        hasReportedChange = false
        return event
    }
}
