import BLERuntime

/// A limit of the values that an app has passed to the host but that were not sent.
///
///              submit, the last that fits            refuse
///     ┌──────┐ ─────────────────────────▶ ┌────────┐ ───────▶ ┌──────────┐
///     │ open │                            │ closed │          │ refusing │
///     └──────┘ ◀───────────────────────── └────────┘          └──────────┘
///        ▲     taken, down to half                                  │
///        └──────────────────────────────────────────────────────────┘
///
/// It opens again only when half of it is free, so that an app that always fills it is not woken for each value.
struct SendWindow: Equatable {
    /// The maximum number of values; the host reports half as many at a time.
    static let size = 2 * EventReceiver.worthwhileReceipts

    private enum State: Equatable {
        case open(Int), closed(Int)
        /// Closed, and the app has been refused.
        case refusing(Int)
    }

    private var state = State.open(0)

    /// The result of values having been sent.
    enum OnTaken: Equatable {
        case nothing
        /// The app can continue; `wasRefused` if it was refused meanwhile.
        case reopened(wasRefused: Bool)
    }

    var isOpen: Bool {
        switch state {
        case .open: true
        case .closed, .refusing: false
        }
    }

    /// The number of values that were passed to the host but not sent.
    var outstanding: Int {
        switch state {
        case .open(let count), .closed(let count), .refusing(let count): count
        }
    }

    /// Counts a value.
    mutating func submit() {
        state =
            switch state {
            case .open(let count) where count + 1 < Self.size: .open(count + 1)
            case .open(let count), .closed(let count): .closed(count + 1)
            case .refusing(let count): .refusing(count + 1)
            }
    }

    /// Records that the app was refused.
    mutating func refuse() {
        state =
            switch state {
            case .closed(let count): .refusing(count)
            case .open, .refusing: state
            }
    }

    /// Counts values that were sent.
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
