import BLEHost
import BLEWire
import Glibc
package import Logging

/// The log messages about a host: its notes, and the loss and absence of its controller.
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
    /// The last logged error about a missing controller, which is not logged again; `nil` if a controller has been lost
    /// since.
    private var absence: String?

    init(_ logger: Logger = .coreBluetooth) { self.logger = logger }

    /// Logs a note from the host, unless there were too many notes recently.
    mutating func write(_ note: Note, at now: Instant) {
        if now >= periodEnd {
            if withheld > 0 { logger.notice("Suppressed further messages: \(withheld)") }
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

    /// Logs that an app is too slow, once for each burst of lost reports.
    func writeDroppingReports() { logger.warning(Self.droppingReports) }

    /// The warning that this app is too slow.
    static let droppingReports: Logger.Message = """
        This app is too slow: advertising reports are being dropped, because more than \(ClientMailbox.limit) events \
        wait for a manager's queue. Return from delegate methods sooner, or scan for fewer devices.
        """

    /// Logs the loss of a controller.
    mutating func write(lost name: String, _ error: TransportError) {
        absence = nil
        logger.warning("Lost the connection to the Bluetooth controller at \(name) (\(error)); reconnecting.")
    }

    /// Logs that there is no controller, with advice, unless the last message about a missing controller said the same.
    mutating func write(absent name: String, _ error: TransportError) {
        guard absence != "\(error)" else { return }
        absence = "\(error)"
        let cure =
            error.cure ?? "Start one, or set \(HostSpecification.variable) to another host: \(HostSpecification.forms)."
        logger.error("No Bluetooth controller at \(name) (\(error)). \(cure)")
    }
}

extension Logger {
    /// The environment variable with the log level, such as `notice`.
    package static let levelVariable = "BLUETOOTH_LOG"

    /// The logger of this package, which writes to standard error unless the app has chosen another destination.
    ///
    /// By default, it logs only messages that need attention. `notice` adds the host's notes, such as the reason why a
    /// link ended, `debug` adds apps' requests and events, and `trace` adds each packet (``TrafficLog``).
    package static var coreBluetooth: Logger {
        var logger = Logger(label: "corebluetooth")
        logger.handler = PrintableLog(logger.handler)
        logger.logLevel = wantedLevel.flatMap { Level(rawValue: $0) } ?? .warning
        _ = hasComplained
        return logger
    }

    private static var wantedLevel: String? { getenv(levelVariable).map { String(cString: $0) } }

    /// The reason why the value of ``levelVariable`` is invalid; `nil` if the value is valid or the variable is not
    /// set.
    package static var levelProblem: String? { wantedLevel.flatMap { levelProblem(in: $0) } }

    /// Returns the reason why a text is not a log level; `nil` if it is one.
    package static func levelProblem(in text: String) -> String? {
        guard Level(rawValue: text) == nil else { return nil }
        let levels = Level.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(levelVariable)=\(text) is not a log level. Use one of \(levels)."
    }

    /// Warns about an invalid value of ``levelVariable``, once per process.
    private static let hasComplained: Void = {
        if let levelProblem { Logger(label: "corebluetooth").warning("\(levelProblem.printable)") }
    }()
}
