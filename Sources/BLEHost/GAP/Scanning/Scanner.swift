import BLEWire

/// The one scan of the controller, on behalf of everybody who scans.
///
///        ┌─────┐ configure ┌────────────┐ enable ┌────┐
///        │ off │ ────────▶ │ configured │ ─────▶ │ on │
///        └─────┘           └────────────┘        └────┘
///           ▲ ───────────── disable ───────────────┘
///
/// What is wanted may change at any time; one command is under way at most, and after its answer the next step leads
/// toward what is wanted then.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.11; 7.8.64 and 7.8.65.
struct Scanner {
    /// After this time, a controller that drops duplicates starts anew, so that peers that changed what they say are
    /// heard.
    static let refreshInterval = Duration.seconds(10)
    /// How long to wait after the controller refused a command.
    static let retryInterval = Duration.seconds(1)

    /// How to scan.
    struct Plan: Equatable {
        /// Whether the controller reports each device once.
        var dropsDuplicates: Bool
        /// Changes whenever somebody starts to scan who has heard of nobody yet.
        var epoch: Int
        var parameters = ScanParameters()
    }

    enum Step: Equatable { case configure(ScanParameters), enable(dropsDuplicates: Bool), disable }

    private enum State {
        case off(notBefore: Instant?)
        case configuring(ScanParameters)
        case configured(ScanParameters)
        /// With the plan as it is wanted, whether or not the filter of duplicates is used for it.
        case enabling(Plan)
        case on(Plan, since: Instant, hasHeard: Bool)
        case disabling
    }

    private var state = State.off(notBefore: nil)
    private var filter = ControllerFilter()

    /// How to scan, or `nil` for not at all.
    var wanted: Plan?

    /// Whether the controller scans, or is about to.
    var isOn: Bool {
        switch state {
        case .enabling, .on, .disabling: true
        case .off, .configuring, .configured: false
        }
    }

    /// Whether the controller does not scan, and nothing of that is under way.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// When to ask for the next step, if nothing happens before.
    var deadline: Instant? {
        switch state {
        case .off(let notBefore): wanted == nil ? nil : notBefore
        case .on(let plan, let since, _): end(of: plan, since)
        case .configuring, .configured, .enabling, .disabling: nil
        }
    }

    /// When the controller starts anew; `nil` if it need not.
    private func end(of plan: Plan, _ since: Instant) -> Instant? {
        plan.dropsDuplicates && !filter.isDistrusted ? since + Self.refreshInterval : nil
    }

    /// The controller was reset.
    mutating func reset() {
        state = .off(notBefore: nil)
        filter = ControllerFilter()
        wanted = nil
    }

    /// Returns the command that leads toward what is wanted, unless one is under way or none is needed.
    mutating func step(at now: Instant) -> Step? {
        if case .on(let plan, let since, let hasHeard) = state, let end = end(of: plan, since), end <= now {
            filter.periodEnded(hasHeard: hasHeard)
            state = .disabling
            return .disable
        }
        let step: Step?
        (state, step) =
            switch (state, wanted) {
            case (.off(let notBefore?), .some) where now < notBefore: (state, nil)
            case (.off, let plan?): (.configuring(plan.parameters), .configure(plan.parameters))
            case (.configured(let parameters), let plan?) where parameters != plan.parameters:
                (.configuring(plan.parameters), .configure(plan.parameters))
            case (.configured, let plan?):
                (.enabling(plan), .enable(dropsDuplicates: plan.dropsDuplicates && filter.isOn))
            case (.configured, nil): (.off(notBefore: nil), nil)
            case (.on(let plan, _, _), let wanted): plan == wanted ? (state, nil) : (.disabling, .disable)
            case (.off, nil), (.configuring, _), (.enabling, _), (.disabling, _): (state, nil)
            }
        return step
    }

    /// Whether that is known already.
    var hasHeard: Bool {
        mutating get { if case .on(_, _, hasHeard: true) = state { true } else { false } }
    }

    /// The controller reported an advertisement.
    mutating func heard() {
        if case .on(let plan, let since, hasHeard: false) = state { state = .on(plan, since: since, hasHeard: true) }
    }

    /// The command that is under way was answered.
    mutating func answered(_ status: HCI.Status, at now: Instant) {
        if case .enabling(let plan) = state, plan.dropsDuplicates, status != .success, filter.isOn { filter.refused() }
        let failed = State.off(notBefore: now + Self.retryInterval)
        state =
            switch state {
            case .configuring(let parameters): status == .success ? .configured(parameters) : failed
            case .enabling(let plan): status == .success ? .on(plan, since: now, hasHeard: false) : failed
            case .disabling: .off(notBefore: nil)
            case .off, .configured, .on: state
            }
    }
}
