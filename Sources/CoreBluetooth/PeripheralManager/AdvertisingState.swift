import BLEHost

/// The advertising state of one manager.
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
/// Each start request to the host gets a result, even if the app has stopped since; so they are counted.
struct AdvertisingState: Equatable {
    private enum State: Equatable {
        case off
        /// The host was asked to advertise.
        case starting(AdvertisingRequest)
        case on(AdvertisingRequest)
        /// There is no radio; the host is asked again when it returns.
        case paused(AdvertisingRequest)
    }

    /// The origin of a start request.
    private enum Origin: Equatable {
        case app
        /// The return of the radio, not the app.
        case radio
    }

    private var state: State
    private var askers: [Origin] = []

    /// Creates the state of a manager that is not advertising.
    init() { state = .off }

    /// Creates the state of a manager whose earlier launch is advertising.
    init(_ request: AdvertisingRequest) { state = .on(request) }

    var isAdvertising: Bool {
        switch state {
        case .on: true
        case .off, .starting, .paused: false
        }
    }

    enum OnStart: Equatable {
        /// Send a request to the host.
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
        /// Send a request to the host.
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
        /// Call the delegate.
        case tell
        /// The app did not request this.
        case nothing
    }

    /// Processes the result of the host.
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

    /// Pauses advertising, because the radio is gone.
    mutating func radioLost() {
        switch state {
        case .starting(let request), .on(let request): state = .paused(request)
        case .off, .paused: break
        }
    }

    /// Returns the request to repeat now that the radio is back, if any.
    mutating func radioBack() -> AdvertisingRequest? {
        guard case .paused(let request) = state else { return nil }
        state = .starting(request)
        askers.append(.radio)
        return request
    }
}
