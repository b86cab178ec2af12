import BLEHost

/// Whether a manager advertises.
///
///             start                 answered
///     ┌─────┐ ─────▶ ┌──────────┐ ───────────▶ ┌────┐
///     │ off │        │ starting │              │ on │
///     └─────┘ ◀───── └──────────┘              └────┘
///        ▲    refused      │ radio lost           │ radio lost
///        │ stop            ▼                      │
///        │ or refused ┌────────┐                  │
///        └─────────── │ paused │ ◀────────────────┘
///                     └────────┘ ── radio back ──▶ starting
///
/// Each time that the host is asked to start gets an answer, also if the app has stopped since: so they are counted.
struct AdvertisingState: Equatable {
    private enum State: Equatable {
        case off
        /// The host was asked.
        case starting(AdvertisingRequest)
        case on(AdvertisingRequest)
        /// There is no radio now; when it is back, the host is asked again.
        case paused(AdvertisingRequest)
    }

    /// Who waits for an answer of the host.
    private enum Asker: Equatable {
        case app
        /// Nobody: the radio came back.
        case radio
    }

    private var state: State
    private var askers: [Asker] = []

    /// Begins without an advertisement.
    init() { state = .off }

    /// Begins with what an earlier launch of the app advertises.
    init(_ request: AdvertisingRequest) { state = .on(request) }

    var isAdvertising: Bool {
        switch state {
        case .on: true
        case .off, .starting, .paused: false
        }
    }

    enum OnStart: Equatable {
        /// Ask the host.
        case send
        case alreadyAdvertising
    }

    mutating func start(_ request: AdvertisingRequest) -> OnStart {
        switch state {
        case .off:
            state = .starting(request)
            askers.append(.app)
            return .send
        case .starting, .on, .paused: return .alreadyAdvertising
        }
    }

    enum OnStop: Equatable {
        /// Tell the host.
        case send
        case nothing
    }

    mutating func stop() -> OnStop {
        let action: OnStop
        (state, action) =
            switch state {
            case .starting, .on: (.off, .send)
            case .paused, .off: (.off, .nothing)
            }
        return action
    }

    enum OnAnswered: Equatable {
        /// Tell the app.
        case tell
        /// The app did not ask.
        case nothing
    }

    /// The host advertises now, or does not.
    mutating func answered(success: Bool) -> OnAnswered {
        guard !askers.isEmpty else { return .nothing }
        let asker = askers.removeFirst()
        if askers.isEmpty {
            switch state {
            case .starting(let request): state = success ? .on(request) : .off
            // The app asked when there was no radio any more: what it is told counts.
            case .paused where asker == .app && !success: state = .off
            case .off, .on, .paused: break
            }
        }
        return asker == .app ? .tell : .nothing
    }

    /// The radio is gone for now.
    mutating func radioLost() {
        switch state {
        case .starting(let request), .on(let request): state = .paused(request)
        case .off, .paused: break
        }
    }

    /// The radio is back: what to ask the host for, if anything.
    mutating func radioBack() -> AdvertisingRequest? {
        guard case .paused(let request) = state else { return nil }
        state = .starting(request)
        askers.append(.radio)
        return request
    }
}
