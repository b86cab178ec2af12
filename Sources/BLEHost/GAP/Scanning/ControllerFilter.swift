/// A check of the controller's duplicate filter, which compares what is received with and without the filter.
///
/// Some controllers report nothing while they filter duplicates. If nothing is received during two scan periods with
/// the filter, the next period runs without it. If something is received in that period, and again nothing in the next
/// one with the filter, the filter is no longer used.
struct ControllerFilter {
    private enum State {
        /// The filter is on. Nothing was received during the last `silent` periods.
        case trusted(silent: Int)
        /// The filter is off for one period, to check whether there is anything to receive.
        case paused
        /// The filter is on again, because something was received while it was off.
        case suspected
        case distrusted
    }

    /// The number of periods without reports after which the filter is checked.
    private static let silentPeriodsBeforeCheck = 2

    private var state = State.trusted(silent: 0)

    /// True if the controller should filter duplicates.
    var isOn: Bool {
        switch state {
        case .trusted, .suspected: true
        case .paused, .distrusted: false
        }
    }

    /// True if the filter is no longer used.
    var isDistrusted: Bool { if case .distrusted = state { true } else { false } }

    /// Records the end of a scan period.
    ///
    /// `hasReceived` is true if anything was received in that period.
    mutating func periodEnded(hasReceived: Bool) {
        state =
            switch (state, hasReceived) {
            case (.trusted, true), (.paused, false), (.suspected, true): .trusted(silent: 0)
            case (.trusted(let silent), false):
                silent + 1 < Self.silentPeriodsBeforeCheck ? .trusted(silent: silent + 1) : .paused
            case (.paused, true): .suspected
            case (.suspected, false), (.distrusted, _): .distrusted
            }
    }

    /// Records that the controller rejected the filter.
    mutating func refused() { state = .distrusted }
}
