/// Judges a controller's filter of duplicates by what is heard with it and without.
///
/// There are controllers that report nothing while they are to drop duplicates. So a filter with which nothing was
/// heard for two periods of a scan is off for one; if something is heard then, and again nothing with the filter, it is
/// not used any more.
struct ControllerFilter {
    private enum State {
        /// Nothing was heard with it for so many periods.
        case trusted(silent: Int)
        /// It is off for a period, to see whether there is something to hear.
        case paused
        /// There was something to hear, and it is on again.
        case suspected
        case distrusted
    }

    /// How many periods may pass in silence.
    private static let patience = 2

    private var state = State.trusted(silent: 0)

    /// Whether the controller is to drop duplicates.
    var isOn: Bool {
        switch state {
        case .trusted, .suspected: true
        case .paused, .distrusted: false
        }
    }

    /// Whether it is not used any more.
    var isDistrusted: Bool { if case .distrusted = state { true } else { false } }

    /// A period of the scan is over in which something was heard, or nothing.
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

    /// The controller refuses to scan with it.
    mutating func refused() { state = .distrusted }
}
