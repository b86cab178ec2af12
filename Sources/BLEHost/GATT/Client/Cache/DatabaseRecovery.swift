import BLEWire

/// The state machine of the recovery after a peer has rejected a request because its database has changed.
///
///        ┌──────┐ rejected ┌──────────┐ bearer is free ┌─────────┐ same hash, or the peer has reported the change
///        │ none │ ───────▶ │ required │ ─────────────▶ │ reading │ ──────▶ none
///        └──────┘          └──────────┘                └─────────┘
///            ▲                                              │ other hash, or no hash
///            │ everything is verified, or would take too    ▼
///            │ many requests                           ┌───────────┐
///            └──────────────────────────────────────── │ verifying │
///                                                      └───────────┘
///
/// No other requests are made during recovery, because handles may belong to other attributes now.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct DatabaseRecovery {
    private enum State {
        case none
        /// Recovery is needed, and starts when the unenhanced bearer is free. `wasReported` is true if the peer has
        /// reported the changed range.
        case required(wasReported: Bool)
        /// The Database Hash is being read, which makes this host change-aware.
        case reading(wasReported: Bool)
        /// The attributes that were reported to clients are being verified; `requests` is the number of requests so
        /// far.
        case verifying(requests: Int)
    }

    /// The maximum number of requests that verify attributes.
    ///
    /// If they do not suffice, all attributes are invalidated.
    static let mostRequests = 16

    private var state = State.none
    /// True if the peer has reported a change since the last recovery.
    private var hasReportedChange = false
    /// True if what was reported to clients is still stored, and can be compared with the peer's attributes.
    private var isComparable = true

    var isUnderWay: Bool {
        if case .none = state { false } else { true }
    }

    /// Records that the peer has reported a change of its services.
    mutating func noteReportedChange() { hasReportedChange = true }

    /// Starts the recovery, unless it is already in progress.
    ///
    /// `wasReported` is true if the peer has reported a change since the rejected request was sent.
    mutating func require(wasReported: Bool) {
        guard !isUnderWay else { return }
        state = .required(wasReported: wasReported || hasReportedChange)
    }

    /// Ends the recovery.
    mutating func stop() { state = .none }

    enum OnNext: Equatable {
        case nothing
        case readHash
        /// Verify the next part of the attributes that were reported to clients.
        case verify
    }

    /// Advances to the next step, and returns the action that starts the step.
    ///
    /// Call this method only when the unenhanced bearer is free.
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
        /// Verify all attributes that were reported to clients.
        case check
    }

    /// Processes the result of a step.
    ///
    /// Afterwards, the caller reports the changes that were detected, and calls ``conclude(_:)``.
    mutating func receive(_ outcome: Procedure.Outcome, _ database: PeerDatabase) -> OnReceive {
        isComparable = !database.lacksReportedAttributes
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
        /// There are more attributes to verify.
        case verifyMore
        case recovered
        /// The changed range is unknown, so everything that was reported to clients is invalid.
        case lost
    }

    /// Ends the recovery if it is complete or has failed.
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
