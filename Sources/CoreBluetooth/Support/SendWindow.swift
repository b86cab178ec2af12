import BLERuntime

/// A limit on the number of values that an app has passed to the host and that the host has not sent yet.
///
///              submit, the last that fits            refuse
///     ┌──────┐ ─────────────────────────▶ ┌────────┐ ───────▶ ┌──────────┐
///     │ open │                            │ closed │          │ refusing │
///     └──────┘ ◀───────────────────────── └────────┘          └──────────┘
///        ▲     taken, down to half                                  │
///        └──────────────────────────────────────────────────────────┘
///
/// A closed window opens again only when half of it is free, so that an app that always fills it is not woken for each
/// value.
struct SendWindow: Equatable {
    /// The maximum number of values.
    ///
    /// The host reports sent values in groups of half that size.
    static let size = 2 * EventReceiver.worthwhileReceipts

    private enum State: Equatable {
        case open(Int), closed(Int)
        /// Closed, and a value from the app was refused because of that.
        ///
        /// As in the other cases, the associated value is the number of values that the host has not sent yet.
        case refusing(Int)
    }

    private var state = State.open(0)

    /// The effect of sent values on the window.
    enum OnTaken: Equatable {
        case nothing
        /// The app can send again; `wasRefused` is true if a value was refused while the window was closed.
        case reopened(wasRefused: Bool)
    }

    var isOpen: Bool {
        switch state {
        case .open: true
        case .closed, .refusing: false
        }
    }

    /// The number of values that the host has not sent yet.
    var outstanding: Int {
        switch state {
        case .open(let count), .closed(let count), .refusing(let count): count
        }
    }

    /// Counts a value that is passed to the host.
    mutating func submit() {
        state =
            switch state {
            case .open(let count) where count + 1 < Self.size: .open(count + 1)
            case .open(let count), .closed(let count): .closed(count + 1)
            case .refusing(let count): .refusing(count + 1)
            }
    }

    /// Records that a value was refused because the window is closed.
    mutating func refuse() {
        state =
            switch state {
            case .closed(let count): .refusing(count)
            case .open, .refusing: state
            }
    }

    /// Counts values that the host has sent, and returns the effect on the window.
    mutating func taken(_ taken: Int) -> OnTaken {
        let left = max(0, outstanding - taken), action: OnTaken
        (state, action) =
            switch state {
            case .closed where left <= Self.size / 2: (.open(left), .reopened(wasRefused: false))
            case .refusing where left <= Self.size / 2: (.open(left), .reopened(wasRefused: true))
            case .closed: (.closed(left), .nothing)
            case .refusing: (.refusing(left), .nothing)
            case .open: (.open(left), .nothing)
            }
        return action
    }
}
