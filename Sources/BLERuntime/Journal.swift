import BLEHost
import BLEWire
import Logging

/// What the runtime writes to the log, and no more of it than anyone can read.
struct Journal {
    /// How many notes are written in each period.
    private static let burst = 20
    private static let period = Duration.seconds(10)

    private let logger: Logger
    private var periodEnd = Instant()
    private var written = 0
    private var withheld = 0
    /// What was said last of a controller that is not there.
    private var absence: String?

    init(_ logger: Logger = .coreBluetooth) { self.logger = logger }

    /// Writes what the host noticed, unless it has noticed too much lately.
    mutating func write(_ note: Note, at now: Instant) {
        if now >= periodEnd {
            if withheld > 0 { logger.notice("\(withheld) more notes were not written") }
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

    /// Says that a controller was lost.
    mutating func write(lost name: String, _ error: TransportError) {
        absence = nil
        logger.warning("The Bluetooth controller at \(name) was lost (\(error)); trying to reach it again.")
    }

    /// Says that there is no controller, and what to do about it, unless that was said last.
    mutating func write(absent name: String, _ error: TransportError) {
        guard absence != "\(error)" else { return }
        absence = "\(error)"
        let cure =
            error.cure ?? "Start it, or set \(HostSpecification.variable) to another one: \(HostSpecification.forms)."
        logger.error("There is no Bluetooth controller at \(name) (\(error)). \(cure)")
    }
}
