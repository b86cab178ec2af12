import BLEWire

/// The controller's scan, on behalf of all scanning clients.
///
///        ┌─────┐ configure ┌────────────┐ enable ┌────┐
///        │ off │ ────────▶ │ configured │ ─────▶ │ on │
///        └─────┘           └────────────┘        └────┘
///           ▲ ───────────── disable ───────────────┘
///
/// The wanted parameters may change at any time. At most one command is pending; after its completion, the next step
/// leads to what is wanted then.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.11; 7.8.64 and 7.8.65.
struct Scanner {
    /// The time after which a scan with a duplicate filter is restarted, so that peers with changed data are reported.
    static let refreshInterval = Duration.seconds(10)
    /// The delay after the controller rejected a command.
    static let retryInterval = Duration.seconds(1)

    /// The parameters of a scan.
    struct Plan: Equatable {
        /// True if the controller reports each device once.
        var dropsDuplicates: Bool
        /// Changes whenever a client starts to scan to which no device was reported.
        var epoch: Int
        var parameters = ScanParameters()
    }

    enum Step: Equatable { case configure(ScanParameters), enable(dropsDuplicates: Bool), disable }

    private enum State {
        case off(notBefore: Instant?)
        case configuring(ScanParameters)
        case configured(ScanParameters)
        /// With the wanted parameters; the duplicate filter may be left out.
        case enabling(Plan)
        case on(Plan, since: Instant, hasHeard: Bool)
        case disabling
    }

    private var state = State.off(notBefore: nil)
    private var filter = ControllerFilter()

    /// The wanted parameters; `nil` for no scan.
    var wanted: Plan?

    /// True if the controller is scanning or about to.
    var isOn: Bool {
        switch state {
        case .enabling, .on, .disabling: true
        case .off, .configuring, .configured: false
        }
    }

    /// True if the controller is not scanning and no command is pending.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// The time at which to request the next step unless something happens first.
    var deadline: Instant? {
        switch state {
        case .off(let notBefore): wanted == nil ? nil : notBefore
        case .on(let plan, let since, _): end(of: plan, since)
        case .configuring, .configured, .enabling, .disabling: nil
        }
    }

    /// Returns the time at which the scan is restarted; `nil` for never.
    private func end(of plan: Plan, _ since: Instant) -> Instant? {
        plan.dropsDuplicates && !filter.isDistrusted ? since + Self.refreshInterval : nil
    }

    /// Records a reset of the controller.
    mutating func reset() {
        state = .off(notBefore: nil)
        filter = ControllerFilter()
        wanted = nil
    }

    /// Returns the next command, unless one is pending or none is needed.
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

    /// True if something was already received in this period.
    var hasHeard: Bool {
        mutating get { if case .on(_, _, hasHeard: true) = state { true } else { false } }
    }

    /// Records that the controller reported an advertisement.
    mutating func heard() {
        if case .on(let plan, let since, hasHeard: false) = state { state = .on(plan, since: since, hasHeard: true) }
    }

    /// Processes the completion of the pending command.
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
