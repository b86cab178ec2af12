import BLEHost
import BLEWire
import Logging

/// The log of what happens to a host and its controller.
///
/// The number of notes from the host in each period is limited.
struct RuntimeLog {
    /// The maximum number of notes per period.
    private static let burst = 20
    private static let period = Duration.seconds(10)

    private let logger: Logger
    private var periodEnd = Instant()
    private var written = 0
    private var withheld = 0
    /// The last message about a missing controller, which is not repeated; `nil` if there has been a controller since.
    private var absence: String?

    init(_ logger: Logger = .coreBluetooth) { self.logger = logger }

    /// Logs a note from the host, unless there were too many notes recently.
    mutating func write(_ note: Note, at now: Instant) {
        if now >= periodEnd {
            if withheld > 0 { logger.notice("\(withheld) more notes were suppressed") }
            periodEnd = now + Self.period
            (written, withheld) = (0, 0)
        }
        guard written < Self.burst else {
            withheld += 1
            return
        }
        written += 1
        logger.notice("\(note)")
    }

    /// Logs the loss of a controller.
    mutating func write(lost name: String, _ error: TransportError) {
        absence = nil
        logger.warning("Lost the Bluetooth controller at \(name) (\(error)); reconnecting.")
    }

    /// Logs that there is no controller, with advice, unless the last message said the same.
    mutating func write(absent name: String, _ error: TransportError) {
        guard absence != "\(error)" else { return }
        absence = "\(error)"
        let cure =
            error.cure ?? "Start one, or set \(HostSpecification.variable) to another one: \(HostSpecification.forms)."
        logger.error("No Bluetooth controller at \(name) (\(error)). \(cure)")
    }
}
