import BLEWire
import Logging
import Testing

@testable import BLERuntime

@Suite("Traffic log")
struct TrafficLogTests {
    /// A log that is kept in memory.
    private final class Lines: Sendable {
        let lines = Locked<[String]>([])

        func logger(_ level: Logger.Level) -> Logger {
            var logger = Logger(label: "test") { _ in Handler(lines: self) }
            logger.logLevel = level
            return logger
        }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        init(lines: Lines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.level) \(event.message)") } }
    }

    private static let reset = PacketRecord(
        machine: "hci0",
        direction: .toController,
        time: Instant(),
        bytes: [0x01, 0x03, 0x0C, 0x00]
    )

    @Test(
        "There is no traffic log at less verbose levels",
        arguments: [Logger.Level.info, .notice, .warning, .error, .critical]
    )
    func none(level: Logger.Level) {
        #expect(TrafficLog(Lines().logger(level)) == nil)
    }

    @Test(
        "The debug level logs apps' requests and events, and the trace level also packets",
        arguments: [Logger.Level.debug, .trace]
    )
    func lines(level: Logger.Level) throws {
        let lines = Lines()
        var log = try #require(TrafficLog(lines.logger(level)))
        log.comment("app 1 requests: scan")
        log.record(Self.reset)
        log.record(Self.reset, time: "5 ms ")
        let heard = lines.lines.withLock { $0 }
        #expect(heard.first == "debug app 1 requests: scan")
        guard level == .trace else {
            #expect(heard.count == 1)
            return
        }
        #expect(heard.count == 3)
        #expect(heard[1].hasPrefix("trace hci0 → ") && heard[1].contains("Reset"))
        #expect(heard[2] == heard[1].replacing("trace ", with: "trace 5 ms "))
    }
}
