/// Whether a client knows of the last change of the own database.
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
        /// The client was told, or has read the Database Hash: its next request says that it has understood.
        case informed
    }

    private var state = State.aware

    /// Creates the state of a client that has just come.
    package init() {}

    package var isAware: Bool { state == .aware }

    /// The database is another now.
    package mutating func databaseChanged() { state = .unaware }

    /// The client confirmed an indication of the last change, which says that it knows if it has no other bearer.
    package mutating func confirmedChange(onOnlyBearer: Bool = true) { if onOnlyBearer { state = .aware } }

    /// The client has read the Database Hash.
    package mutating func readHash() { if state == .unaware { state = .informed } }

    package enum OnRequest: Equatable {
        case proceed
        /// Answer "database out of sync".
        case refuse
    }

    /// Takes a request, which has `usesHandles` if it makes no sense to somebody who takes the database for another.
    ///
    /// Only a client that wants to be told, which `isRobust` says, is refused. One with several bearers may have sent
    /// the request before it was: nothing but the Database Hash tells such a client.
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
