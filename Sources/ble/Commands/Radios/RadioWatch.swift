import BLERuntime
import CoreBluetooth

/// A change of the radio for a command that continues without it.
enum RadioChange {
    case lost
    case returned

    var fact: Fact {
        switch self {
        case .lost: Fact("radio_lost", text: "")
        case .returned: Fact("radio_returned", text: "")
        }
    }

    var remark: String {
        switch self {
        case .lost: "The radio was lost; waiting for it to return."
        case .returned: "The radio is back."
        }
    }
}

extension Printer {
    /// Reports a change of the radio, to users on standard error, because standard output may carry data.
    func announce(_ change: RadioChange) {
        print(change.fact)
        remark(change.remark)
    }
}

/// Tracks the radio of a command: it must be available at the start; later it may go away and return.
struct RadioWatch {
    /// The time that a command waits for its radio at the start.
    static let patience = Duration.seconds(10)

    private enum State {
        case awaited
        case there
        case lost
    }

    private var state = State.awaited
    private let mayCome: Bool

    /// Creates a watch; `mayCome` says whether to wait for a controller that is not there yet.
    init(mayCome: Bool = Self.mayCome()) { self.mayCome = mayCome }

    /// Returns whether a controller that is not there yet may be soon: one behind a socket is tried again and again.
    static func mayCome(host: String? = HostSpecification.ofProcess) -> Bool {
        host.flatMap { try? HostSpecification($0) }?.isAwaited ?? false
    }

    enum OnChange: Equatable {
        case nothing
        /// The radio is available for the first time.
        case came
        case lost
        case returned
        /// The radio is not available at the start.
        case missing(CBManagerState)
    }

    /// Handles a change of the manager's state.
    mutating func changed(to new: CBManagerState) -> OnChange {
        let action: OnChange
        (state, action) =
            switch (state, new) {
            case (.awaited, .poweredOn): (.there, .came)
            case (.awaited, .unknown), (.awaited, .resetting): (.awaited, .nothing)
            case (.awaited, .unsupported) where mayCome: (.awaited, .nothing)
            case (.awaited, _): (.awaited, .missing(new))
            case (.there, .poweredOn): (.there, .nothing)
            case (.there, _): (.lost, .lost)
            case (.lost, .poweredOn): (.there, .returned)
            case (.lost, _): (.lost, .nothing)
            }
        return action
    }

    /// Handles the end of the time to wait for the radio.
    func overdue() -> OnChange {
        switch state {
        case .awaited: .missing(.unknown)
        case .there, .lost: .nothing
        }
    }

    /// Calls `giveUp` when the time to wait for the radio is over.
    @MainActor
    static func timer(_ giveUp: @escaping @MainActor () -> Void) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: patience)
            giveUp()
        }
    }
}

extension Error {
    /// True if an operation failed because the connection or the radio was lost.
    ///
    /// The delegate reports that next.
    var isLoss: Bool { (self as? CBError)?.code == .notConnected }
}
