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
    }

    enum Step: Equatable { case configure, enable(dropsDuplicates: Bool), disable }

    private enum State {
        case off(notBefore: Instant?)
        case configuring
        case configured
        case enabling(Plan)
        case on(Plan, since: Instant)
        case disabling
    }

    private var state = State.off(notBefore: nil)

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
        case .on(let plan, let since): plan.dropsDuplicates ? since + Self.refreshInterval : nil
        case .configuring, .configured, .enabling, .disabling: nil
        }
    }

    /// The controller was reset.
    mutating func reset() {
        state = .off(notBefore: nil)
        wanted = nil
    }

    /// Returns the command that leads toward what is wanted, unless one is under way or none is needed.
    mutating func step(at now: Instant) -> Step? {
        let step: Step?
        (state, step) =
            switch (state, wanted) {
            case (.off(let notBefore?), .some) where now < notBefore: (state, nil)
            case (.off, .some): (.configuring, .configure)
            case (.configured, let plan?): (.enabling(plan), .enable(dropsDuplicates: plan.dropsDuplicates))
            case (.configured, nil): (.off(notBefore: nil), nil)
            case (.on(let plan, let since), let wanted):
                plan == wanted && !(plan.dropsDuplicates && since + Self.refreshInterval <= now)
                    ? (state, nil) : (.disabling, .disable)
            case (.off, nil), (.configuring, _), (.enabling, _), (.disabling, _): (state, nil)
            }
        return step
    }

    /// The command that is under way was answered.
    mutating func answered(_ status: HCI.Status, at now: Instant) {
        let failed = State.off(notBefore: now + Self.retryInterval)
        state =
            switch state {
            case .configuring: status == .success ? .configured : failed
            case .enabling(let plan): status == .success ? .on(plan, since: now) : failed
            case .disabling: .off(notBefore: nil)
            case .off, .configured, .on: state
            }
    }
}
