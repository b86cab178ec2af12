import BLEHost
import BLEWire
import Logging

/// The runtime's log messages, with a rate limit.
struct RuntimeLog {
    /// The maximum number of notes per period.
    private static let burst = 20
    private static let period = Duration.seconds(10)

    private let logger: Logger
    private var periodEnd = Instant()
    private var written = 0
    private var withheld = 0
    /// The last message about a missing controller.
    private var absence: String?

    init(_ logger: Logger = .coreBluetooth) { self.logger = logger }

    /// Logs a note of the host, unless there were too many.
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

    /// Logs that there is no controller and what to do about it, unless that was the last message.
    mutating func write(absent name: String, _ error: TransportError) {
        guard absence != "\(error)" else { return }
        absence = "\(error)"
        let cure =
            error.cure ?? "Start one, or set \(HostSpecification.variable) to another one: \(HostSpecification.forms)."
        logger.error("No Bluetooth controller at \(name) (\(error)). \(cure)")
    }
}
