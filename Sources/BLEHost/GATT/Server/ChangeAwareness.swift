/// The change-awareness of a client.
///
///                   change                 told, or hash read
///        ┌───────┐ ───────▶ ┌─────────┐ ───────────────────▶ ┌──────────┐
///        │ aware │          │ unaware │                      │ informed │
///        └───────┘ ◀─────── └─────────┘ ◀─────────────────── └──────────┘
///            ▲    confirmed                    change              │
///            └───────────────── any request, confirmed ────────────┘
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
package struct ChangeAwareness: Equatable, Sendable {
    private enum State: Equatable, Sendable {
        case aware
        case unaware
        /// The client was told, or has read the Database Hash. Its next request makes it change-aware.
        case informed
    }

    private var state = State.aware

    /// Creates the state of a new client.
    package init() {}

    package var isAware: Bool { state == .aware }

    /// Records a change of the database.
    package mutating func databaseChanged() { state = .unaware }

    /// Records that the client confirmed the last change, which makes it change-aware if it has no other bearer.
    package mutating func confirmedChange(onOnlyBearer: Bool = true) { if onOnlyBearer { state = .aware } }

    /// Records that the client has read the Database Hash.
    package mutating func readHash() { if state == .unaware { state = .informed } }

    package enum OnRequest: Equatable {
        case proceed
        /// Respond with Database Out Of Sync.
        case refuse
    }

    /// Processes a request; `usesHandles` is true if it is meaningless for a client that is not aware of a change.
    ///
    /// Only clients with robust caching (`isRobust`) are rejected. A client with several bearers may have sent the
    /// request earlier, so only the Database Hash makes it change-aware.
    package mutating func receiveRequest(
        usesHandles: Bool,
        isRobust: Bool,
        onOnlyBearer: Bool = true
    ) -> OnRequest {
        switch state {
        case .aware: return .proceed
        case .informed:
            state = .aware
            return .proceed
        case .unaware:
            guard usesHandles, isRobust else { return .proceed }
            if onOnlyBearer { state = .informed }
            return .refuse
        }
    }
}
