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
/// The host answers each start request, even if the app has since stopped advertising. So the unanswered requests are
/// kept in order, until the host itself is lost.
struct AdvertisingState: Equatable {
    private enum State: Equatable {
        case off
        /// The host has been asked to advertise, and has not answered yet.
        case starting(AdvertisingRequest)
        case on(AdvertisingRequest)
        /// There is no radio. The host is asked again when the radio returns.
        case paused(AdvertisingRequest)
    }

    /// The origin of a start request.
    private enum Origin: Equatable {
        /// The app. The number identifies the request.
        case app(Int)
        /// The manager itself, because the radio has returned.
        case radio
    }

    private var state: State
    /// The origins of the start requests that the host has not answered, oldest first.
    private var unansweredStarts: [Origin] = []
    /// The number of the app's latest start request.
    private var latestNumber = 0
    /// The number of the app's start request that the host's latest answer belongs to; `nil` if it belongs to none.
    private(set) var answeredNumber: Int?

    /// Creates the state of a manager that is not advertising.
    init() { state = .off }

    /// Creates the state of a manager whose app started advertising in an earlier launch and is still advertising.
    init(_ request: AdvertisingRequest) { state = .on(request) }

    var isAdvertising: Bool {
        switch state {
        case .on: true
        case .off, .starting, .paused: false
        }
    }

    /// Returns a number for a start request that the app makes later.
    mutating func reserveNumber() -> Int {
        latestNumber += 1
        return latestNumber
    }

    enum OnStart: Equatable {
        /// Send a request to the host.
        case send
        case alreadyAdvertising
    }

    /// Starts advertising, as the app requests.
    ///
    /// `number` is a number from ``reserveNumber()``; `nil` to use the next one.
    mutating func start(_ request: AdvertisingRequest, as number: Int? = nil) -> OnStart {
        switch state {
        case .off:
            state = .starting(request)
            unansweredStarts.append(.app(number ?? reserveNumber()))
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
        case callDelegate
        /// Do not call the delegate, because the app did not make the request.
        case nothing
    }

    /// Processes the host's answer to the oldest start request.
    mutating func answered(success: Bool) -> OnAnswered {
        answeredNumber = nil
        guard !unansweredStarts.isEmpty else { return .nothing }
        let origin = unansweredStarts.removeFirst()
        if case .app(let number) = origin { answeredNumber = number }
        if unansweredStarts.isEmpty {
            switch state {
            case .starting(let request): state = success ? .on(request) : .off
            // The app's request reached the host when the radio was already gone. The delegate receives the failure, so
            // the request must not be repeated.
            case .paused where origin != .radio && !success: state = .off
            case .off, .on, .paused: break
            }
        }
        return origin == .radio ? .nothing : .callDelegate
    }

    /// Forgets the start requests that the host has not answered, because a new host does not know them.
    ///
    /// A host answers all requests when it loses its radio; only one that has ended leaves some unanswered.
    mutating func forgetUnansweredStarts() { unansweredStarts = [] }

    /// Pauses advertising, because the radio is gone.
    mutating func radioLost() {
        switch state {
        case .starting(let request), .on(let request): state = .paused(request)
        case .off, .paused: break
        }
    }

    /// Returns the request to repeat now that the radio is back; `nil` if the app was not advertising.
    mutating func radioReturned() -> AdvertisingRequest? {
        guard case .paused(let request) = state else { return nil }
        state = .starting(request)
        unansweredStarts.append(.radio)
        return request
    }
}
