import BLERuntime
import CoreBluetooth

/// What becomes of the radio of a command that goes on without it.
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
        case .lost: "The radio is gone; waiting for it to return."
        case .returned: "The radio is back."
        }
    }
}

extension Printer {
    /// Says what has become of the radio: to people on standard error, since standard output may be data.
    func announce(_ change: RadioChange) {
        print(change.fact)
        remark(change.remark)
    }
}

/// Whether a command has the radio that it needs: it must be there when the command begins, and may go and return then.
struct RadioWatch {
    /// How long a command waits for its radio when it begins.
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

    /// Whether a controller that is not there yet may be soon: one behind a socket is tried again and again.
    static func mayCome(host: String? = HostSpecification.ofProcess) -> Bool {
        host.flatMap { try? HostSpecification($0) }?.isAwaited ?? false
    }

    enum OnChange: Equatable {
        case nothing
        /// It can be used, for the first time.
        case came
        case lost
        case returned
        /// There is none to begin with.
        case missing(CBManagerState)
    }

    /// The manager says how the radio is.
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

    /// The command has waited for its radio as long as it may.
    func overdue() -> OnChange {
        switch state {
        case .awaited: .missing(.unknown)
        case .there, .lost: .nothing
        }
    }

    /// Calls `giveUp` when a command has waited for its radio as long as it may.
    @MainActor
    static func timer(_ giveUp: @escaping @MainActor () -> Void) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: patience)
            giveUp()
        }
    }
}

extension Error {
    /// Whether something came to nothing because a connection or the radio is gone, of which the delegate hears next.
    var isLoss: Bool { (self as? CBError)?.code == .notConnected }
}
