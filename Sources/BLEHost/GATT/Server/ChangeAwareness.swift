/// A GATT client's awareness of the last change to the local database.
///
///                   change                 refused, or hash read
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
        /// The client was sent Database Out Of Sync, or has read the Database Hash. Its next request makes it
        /// change-aware.
        case informed
    }

    private var state = State.aware

    /// Creates the state of a new client, which is change-aware.
    package init() {}

    package var isAware: Bool { state == .aware }

    /// Records that the database has changed.
    package mutating func databaseChanged() { state = .unaware }

    /// Records that the client confirmed the last change.
    ///
    /// The confirmation makes the client change-aware if it has only one bearer (`onOnlyBearer`).
    package mutating func confirmedChange(onOnlyBearer: Bool = true) { if onOnlyBearer { state = .aware } }

    /// Records that the client has read the Database Hash.
    package mutating func readHash() { if state == .unaware { state = .informed } }

    package enum OnRequest: Equatable {
        case proceed
        /// Respond with Database Out Of Sync.
        case refuse
    }

    /// Records a request and returns whether to carry it out.
    ///
    /// A request is refused only if the client supports robust caching (`isRobust`) and the request contains handles
    /// that the client must have discovered (`usesHandles`).
    ///
    /// If the client has only one bearer (`onOnlyBearer`), a refusal informs it of the change, and its next request
    /// makes it change-aware. If it has several, it may have sent that request before the refusal arrived, so it must
    /// read the Database Hash first.
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
