import BLERuntime
import CoreBluetooth

/// A change of the radio's availability, for a command that keeps running without a radio.
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
    /// Reports a change of the radio's availability.
    ///
    /// Users see the report on standard error, because standard output may carry data.
    func announce(_ change: RadioChange) {
        print(change.fact)
        remark(change.remark)
    }
}

/// The state of the radio for a command that needs a radio at the start, and later waits for a lost radio to return.
struct RadioWatch {
    /// The time for which a command waits for the radio at the start.
    static let timeout = Duration.seconds(10)

    private enum State {
        case awaited
        case available
        case lost
    }

    private var state = State.awaited
    private let mayAppear: Bool

    /// Creates a watch.
    ///
    /// If `mayAppear`, the watch waits for a controller that is missing at the start.
    init(mayAppear: Bool = Self.mayAppear()) { self.mayAppear = mayAppear }

    /// Returns whether a missing controller may appear soon.
    ///
    /// True if `host`, a value of `BLUETOOTH_HOST`, names a controller on a socket, because the Bluetooth host keeps
    /// trying to connect to that socket.
    static func mayAppear(host: String? = HostSpecification.ofProcess) -> Bool {
        host.flatMap { try? HostSpecification($0) }?.isAwaited ?? false
    }

    enum OnChange: Equatable {
        case nothing
        /// The radio is available for the first time.
        case appeared
        case lost
        case returned
        /// The radio is not available at the start; the manager's state says why.
        case missing(CBManagerState)
    }

    /// Records a change of the manager's state; returns what the change means for the command.
    mutating func changed(to new: CBManagerState) -> OnChange {
        let action: OnChange
        (state, action) =
            switch (state, new) {
            case (.awaited, .poweredOn): (.available, .appeared)
            case (.awaited, .unknown), (.awaited, .resetting): (.awaited, .nothing)
            case (.awaited, .unsupported) where mayAppear: (.awaited, .nothing)
            case (.awaited, _): (.awaited, .missing(new))
            case (.available, .poweredOn): (.available, .nothing)
            case (.available, _): (.lost, .lost)
            case (.lost, .poweredOn): (.available, .returned)
            case (.lost, _): (.lost, .nothing)
            }
        return action
    }

    /// Returns the change to process after ``timeout``: ``OnChange/missing(_:)`` if the radio has not become available;
    /// otherwise ``OnChange/nothing``.
    func overdue() -> OnChange {
        switch state {
        case .awaited: .missing(.unknown)
        case .available, .lost: .nothing
        }
    }

    /// Calls `giveUp` after ``timeout``, unless the task is cancelled.
    @MainActor
    static func timer(_ giveUp: @escaping @MainActor () -> Void) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: timeout)
            giveUp()
        }
    }
}

extension Error {
    /// True if the error means that the connection or the radio was lost.
    ///
    /// If so, the next delegate call reports the loss.
    var isLoss: Bool { (self as? CBError)?.code == .notConnected }
}
