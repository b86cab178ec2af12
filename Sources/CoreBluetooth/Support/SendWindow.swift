import BLERuntime

/// How much an app may have on its way to the host before it must wait.
///
///              submit, the last that fits            refuse
///     ┌──────┐ ─────────────────────────▶ ┌────────┐ ───────▶ ┌──────────┐
///     │ open │                            │ closed │          │ refusing │
///     └──────┘ ◀───────────────────────── └────────┘          └──────────┘
///        ▲     taken, down to half                                  │
///        └──────────────────────────────────────────────────────────┘
///
/// It opens again only when half of it is free, so that an app which sends whatever fits is not woken for each value.
struct SendWindow: Equatable {
    /// How many values may be on their way: the host tells of half as many at once.
    static let size = 2 * EventReceiver.worthwhileReceipts

    private enum State: Equatable {
        case open(Int), closed(Int)
        /// Closed, and the app was told so when it wanted to send something.
        case refusing(Int)
    }

    private var state = State.open(0)

    /// What it means that the host has taken something.
    enum OnTaken: Equatable {
        case nothing
        /// The app may go on; `wasRefused` if it has tried to meanwhile.
        case reopened(wasRefused: Bool)
    }

    var isOpen: Bool {
        switch state {
        case .open: true
        case .closed, .refusing: false
        }
    }

    /// How many values are on their way.
    var outstanding: Int {
        switch state {
        case .open(let count), .closed(let count), .refusing(let count): count
        }
    }

    /// Counts a value that is sent.
    mutating func submit() {
        state =
            switch state {
            case .open(let count) where count + 1 < Self.size: .open(count + 1)
            case .open(let count), .closed(let count): .closed(count + 1)
            case .refusing(let count): .refusing(count + 1)
            }
    }

    /// Notes that the app wanted to send something for which there is no room.
    mutating func refuse() {
        state =
            switch state {
            case .closed(let count): .refusing(count)
            case .open, .refusing: state
            }
    }

    /// Counts values that the host has passed on.
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
