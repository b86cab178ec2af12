import Glibc
package import Logging

extension Logger {
    /// The variable of the environment that says how much is logged, by the name of a level such as `notice`.
    package static let levelVariable = "BLUETOOTH_LOG"

    /// The log of this package, to standard error unless the app chose another place.
    ///
    /// Only what somebody has to do something about is written, unless the environment asks for more: with `notice`
    /// also what the host noticed, such as why a link ended or a packet was dropped.
    package static var coreBluetooth: Logger {
        var logger = Logger(label: "corebluetooth")
        let wanted = getenv(levelVariable).flatMap { Level(rawValue: String(cString: $0)) }
        logger.logLevel = wanted ?? .warning
        return logger
    }
}
