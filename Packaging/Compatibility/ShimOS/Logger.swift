import Foundation
private import Logging

/// A logger with the interface of Apple's, which writes through swift-log to standard error.
///
/// The environment variable `OS_LOG_LEVEL` is the lowest level that is written: `trace`, `debug`, `info`, `notice`,
/// `warning`, `error` or `critical`; `info` if it is not set. Values that are private on Apple's systems are written.
public struct Logger: Sendable {
    private let output: LogOutput

    /// Creates a logger for a category of a subsystem.
    public init(subsystem: String, category: String) { output = LogOutput(subsystem: subsystem, category: category) }

    /// Creates a logger for the subsystem and category of a log.
    public init(_ log: OSLog) { output = log.output }

    /// Creates a logger without a subsystem.
    public init() { output = LogOutput(subsystem: "", category: "") }

    /// Writes a message at the level `notice`.
    public func log(_ message: OSLogMessage) { output.write(.default, message.text) }
    /// Writes a message at a level.
    public func log(level: OSLogType, _ message: OSLogMessage) { output.write(level, message.text) }
    /// Writes a message at the level `debug`.
    public func trace(_ message: OSLogMessage) { output.write(.debug, message.text) }
    /// Writes a message at the level `debug`.
    public func debug(_ message: OSLogMessage) { output.write(.debug, message.text) }
    /// Writes a message at the level `info`.
    public func info(_ message: OSLogMessage) { output.write(.info, message.text) }
    /// Writes a message at the level `notice`.
    public func notice(_ message: OSLogMessage) { output.write(.default, message.text) }
    /// Writes a message at the level `error`.
    public func warning(_ message: OSLogMessage) { output.write(.error, message.text) }
    /// Writes a message at the level `error`.
    public func error(_ message: OSLogMessage) { output.write(.error, message.text) }
    /// Writes a message at the level `critical`.
    public func critical(_ message: OSLogMessage) { output.write(.fault, message.text) }
    /// Writes a message at the level `critical`.
    public func fault(_ message: OSLogMessage) { output.write(.fault, message.text) }
}

/// The importance of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    public static let `default` = OSLogType(0)
    public static let info = OSLogType(1)
    public static let debug = OSLogType(2)
    public static let error = OSLogType(16)
    public static let fault = OSLogType(17)
}

/// A log of a category of a subsystem.
public final class OSLog: NSObject, Sendable {
    /// A category that Apple's tools treat specially.
    public struct Category: Hashable, Sendable {
        let name: String
        public init(string: String) { name = string }
        public static let pointsOfInterest = Category(string: "PointsOfInterest")
        public static let dynamicTracing = Category(string: "DynamicTracing")
    }

    let output: LogOutput

    /// Creates a log for a category of a subsystem.
    public convenience init(subsystem: String, category: String) {
        self.init(LogOutput(subsystem: subsystem, category: category))
    }

    /// Creates a log for a category of a subsystem.
    public convenience init(subsystem: String, category: Category) {
        self.init(subsystem: subsystem, category: category.name)
    }

    private init(_ output: LogOutput) { self.output = output }

    public static let `default` = OSLog(subsystem: "", category: "")
    /// A log that writes nothing.
    public static let disabled = OSLog(LogOutput(subsystem: "", category: "", isDisabled: true))

    /// Returns true if messages of this level are written.
    public func isEnabled(type: OSLogType) -> Bool { output.isWritten(type) }
}

/// Writes a message at a level.
@_disfavoredOverload
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.output.write(type, message.text)
}

/// Writes a message at the level `notice`.
@_disfavoredOverload
public func os_log(_ message: OSLogMessage) { OSLog.default.output.write(.default, message.text) }

/// Writes a message with a format, such as `"%{public}@ has %d services"`.
public func os_log(
    _ message: StaticString,
    dso: UnsafeRawPointer? = nil,
    log: OSLog = .default,
    type: OSLogType = .default,
    _ arguments: Any...
) {
    log.output.write(type, formatted(message.description, arguments))
}

/// Writes a message with a format, such as `"%{public}@ has %d services"`.
public func os_log(
    _ type: OSLogType,
    dso: UnsafeRawPointer? = nil,
    log: OSLog = .default,
    _ message: StaticString,
    _ arguments: Any...
) {
    log.output.write(type, formatted(message.description, arguments))
}

/// The connection to swift-log.
struct LogOutput: Sendable {
    private static let lowest =
        ProcessInfo.processInfo.environment["OS_LOG_LEVEL"].flatMap(Logging.Logger.Level.init(rawValue:)) ?? .info

    private let logger: Logging.Logger
    private let isDisabled: Bool

    init(subsystem: String, category: String, isDisabled: Bool = false) {
        let label = [subsystem, category].filter { !$0.isEmpty }.joined(separator: ":")
        var logger = Logging.Logger(label: label.isEmpty ? "default" : label)
        logger.logLevel = Self.lowest
        self.logger = logger
        self.isDisabled = isDisabled
    }

    func isWritten(_ type: OSLogType) -> Bool { !isDisabled && Self.level(type) >= logger.logLevel }

    func write(_ type: OSLogType, _ text: @autoclosure () -> String) {
        if isWritten(type) { logger.log(level: Self.level(type), "\(text())") }
    }

    private static func level(_ type: OSLogType) -> Logging.Logger.Level {
        switch type {
        case .debug: .debug
        case .info: .info
        case .error: .error
        case .fault: .critical
        default: .notice
        }
    }
}
