/// A check of the controller's duplicate filter, by what is received with and without it.
///
/// Some controllers report nothing while they filter duplicates. If nothing is received with the filter for two periods
/// of a scan, the filter is off for one period. If something is received then, and again nothing with the filter, it is
/// not used any more.
struct ControllerFilter {
    private enum State {
        /// Nothing was received with the filter for this number of periods.
        case trusted(silent: Int)
        /// Off for a period, to check whether there is something to receive.
        case paused
        /// Something was received without the filter, and it is on again.
        case suspected
        case distrusted
    }

    /// The number of silent periods that are accepted.
    private static let patience = 2

    private var state = State.trusted(silent: 0)

    /// True if the controller should filter duplicates.
    var isOn: Bool {
        switch state {
        case .trusted, .suspected: true
        case .paused, .distrusted: false
        }
    }

    /// True if the filter is not used any more.
    var isDistrusted: Bool { if case .distrusted = state { true } else { false } }

    /// Records the end of a scan period in which something or nothing was received.
    mutating func periodEnded(hasHeard: Bool) {
        state =
            switch (state, hasHeard) {
            case (.trusted, true), (.paused, false), (.suspected, true): .trusted(silent: 0)
            case (.trusted(let silent), false):
                silent + 1 < Self.patience ? .trusted(silent: silent + 1) : .paused
            case (.paused, true): .suspected
            case (.suspected, false), (.distrusted, _): .distrusted
            }
    }

    /// Records that the controller rejected the filter.
    mutating func refused() { state = .distrusted }
}
