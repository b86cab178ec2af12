import Glibc
package import Logging

extension Logger {
    /// The variable of the environment that says how much is logged, by the name of a level such as `notice`.
    package static let levelVariable = "BLUETOOTH_LOG"

    /// The log of this package, to standard error unless the app chose another place.
    ///
    /// Only what somebody has to do something about is written, unless the environment asks for more: with `notice`
    /// also what the host noticed, such as why a link ended or a packet was dropped, with `debug` what apps ask for
    /// and hear, and with `trace` each packet (``TrafficLog``).
    package static var coreBluetooth: Logger {
        var logger = Logger(label: "corebluetooth")
        logger.handler = PrintableLog(logger.handler)
        logger.logLevel = wantedLevel.flatMap { Level(rawValue: $0) } ?? .warning
        _ = hasComplained
        return logger
    }

    private static var wantedLevel: String? { getenv(levelVariable).map { String(cString: $0) } }

    /// Why the variable is of no use; `nil` if it names a level, or is not set.
    package static var levelProblem: String? { wantedLevel.flatMap { levelProblem(in: $0) } }

    /// Why a text names no level; `nil` if it does.
    package static func levelProblem(in text: String) -> String? {
        guard Level(rawValue: text) == nil else { return nil }
        let levels = Level.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(levelVariable)=\(text) names no level. Use one of \(levels)."
    }

    /// A variable that is of no use is told once.
    private static let hasComplained: Void = {
        if let levelProblem { Logger(label: "corebluetooth").warning("\(levelProblem.printable)") }
    }()
}
