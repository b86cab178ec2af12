import BLEWire

/// The controller's scan, which serves all scanning clients.
///
///        ┌─────┐ configure ┌────────────┐ enable ┌────┐
///        │ off │ ────────▶ │ configured │ ─────▶ │ on │
///        └─────┘           └────────────┘        └────┘
///           ▲ ───────────── disable ───────────────┘
///
/// The caller may change the wanted parameters at any time. At most one command is pending. When it has completed, the
/// next command moves the scan towards the parameters that are wanted by then.
///
/// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.11; 7.8.64 and 7.8.65.
struct Scanner {
    /// The duration of a scan with a duplicate filter.
    ///
    /// The scan is then restarted, so that peers with changed data are reported.
    static let refreshInterval = Duration.seconds(10)
    /// The wait before trying again after the controller has rejected a command.
    static let retryInterval = Duration.seconds(1)

    /// The parameters of a scan.
    struct Plan: Equatable {
        /// True if the controller is asked to report each device only once.
        var dropsDuplicates: Bool
        /// A number that changes when a client starts a scan.
        ///
        /// The controller's scan then restarts, so that it reports all devices again.
        var epoch: Int
        var parameters = ScanParameters()
    }

    enum Step: Equatable { case configure(ScanParameters), enable(dropsDuplicates: Bool), disable }

    private enum State {
        case off(notBefore: Instant?)
        case configuring(ScanParameters)
        case configured(ScanParameters)
        /// The enable command is pending. Its duplicate filter may be off although the plan asks for it.
        case enabling(Plan)
        case on(Plan, since: Instant, hasReceived: Bool)
        case disabling
    }

    private var state = State.off(notBefore: nil)
    private var filter = ControllerFilter()

    /// The parameters to scan with; `nil` to stop scanning.
    var wanted: Plan?

    /// True if the controller is scanning, or the command to start or stop scanning is pending.
    var isOn: Bool {
        switch state {
        case .enabling, .on, .disabling: true
        case .off, .configuring, .configured: false
        }
    }

    /// True if the controller is not scanning and no command is pending.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// The time to request the next step; `nil` if nothing is due.
    var deadline: Instant? {
        switch state {
        case .off(let notBefore): wanted == nil ? nil : notBefore
        case .on(let plan, let since, _): end(of: plan, since)
        case .configuring, .configured, .enabling, .disabling: nil
        }
    }

    /// Returns the time at which the scan is to be restarted; `nil` if it continues without a restart.
    private func end(of plan: Plan, _ since: Instant) -> Instant? {
        plan.dropsDuplicates && !filter.isDistrusted ? since + Self.refreshInterval : nil
    }

    /// Records that the controller was reset.
    mutating func reset() {
        state = .off(notBefore: nil)
        filter = ControllerFilter()
        wanted = nil
    }

    /// Returns the next command; `nil` if one is pending or none is needed.
    mutating func step(at now: Instant) -> Step? {
        if case .on(let plan, let since, let hasReceived) = state, let end = end(of: plan, since), end <= now {
            filter.periodEnded(hasReceived: hasReceived)
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

    /// True if anything was received in this scan period.
    var hasReceived: Bool {
        mutating get { if case .on(_, _, hasReceived: true) = state { true } else { false } }
    }

    /// Records that the controller reported an advertisement.
    mutating func noteReport() {
        if case .on(let plan, let since, hasReceived: false) = state {
            state = .on(plan, since: since, hasReceived: true)
        }
    }

    /// Processes the completion of the pending command.
    mutating func answered(_ status: HCI.Status, at now: Instant) {
        if case .enabling(let plan) = state, plan.dropsDuplicates, status != .success, filter.isOn { filter.refused() }
        let failed = State.off(notBefore: now + Self.retryInterval)
        state =
            switch state {
            case .configuring(let parameters): status == .success ? .configured(parameters) : failed
            case .enabling(let plan): status == .success ? .on(plan, since: now, hasReceived: false) : failed
            case .disabling: .off(notBefore: nil)
            case .off, .configured, .on: state
            }
    }
}
