import Glibc
package import Logging

extension Logger {
    /// The environment variable with the log level, such as `notice`.
    package static let levelVariable = "BLUETOOTH_LOG"

    /// The logger of this package, which writes to standard error unless the app has chosen another destination.
    ///
    /// By default, it logs only messages that need attention. `notice` adds the host's notes, such as the reason why a
    /// link ended, `debug` adds the requests and events of apps, and `trace` adds each packet (``TrafficLog``).
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
