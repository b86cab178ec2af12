import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import FoundationEssentials
import Glibc
import Logging
import Testing

@Suite("Default link", .timeLimit(.minutes(30)))
struct DefaultLinkTests {
    /// A log that is kept in memory.
    private final class Lines: Sendable {
        let lines = Locked<[String]>([])
        var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
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

        func log(event: LogEvent) { lines.lines.withLock { $0.append(event.message.description) } }
    }

    /// The kernel of a machine without Bluetooth.
    private struct NoBluetooth: AdapterKernel {
        func openManagement() throws(SystemFailure) -> FileDescriptor { throw SystemFailure(errno: EAFNOSUPPORT) }
        func openUserChannel(of index: AdapterIndex) throws(SystemFailure) -> FileDescriptor {
            throw SystemFailure(errno: EAFNOSUPPORT)
        }
        var indexes: [AdapterIndex] { [] }
        func address(of index: AdapterIndex) -> DeviceAddress? { nil }
        var switches: [RadioSwitch] { [] }
        var holders: [AdapterHolder] { [] }
        func users(of path: String) -> [RunningProgram] { [] }
        var hasBluetooth: Bool { false }
        var isPrivileged: Bool { false }
        var program: String { "app" }
    }

    @Test("A link that a test has bound takes precedence")
    func bound() {
        let machine = World(seed: 1).machine("phone")
        machine.inhabit { #expect(DefaultLink.current as? Machine === machine) }
    }

    @Test(
        "Without a usable host, one log line tells what to do",
        arguments: [nil, "", "nonsense", "tcp:nowhere", "world:/nowhere/at/all.json"]
    )
    func unsupported(text: String?) async {
        let log = Lines()
        let app = SeamApp()
        app.start(.central, on: DefaultLink.link(named: text, in: NoBluetooth(), logger: log.logger))
        await waiting(for: app) { $0.states == [.unsupported] }
        let lines = log.lines.withLock { $0 }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("BLUETOOTH_HOST") == true)
    }

    @Test("A manager created outside every world while one exists is reported in a line with the remedy")
    func outside() async throws {
        let log = Lines()
        let link = try #require(DefaultLink.outside(nil, worlds: 1, logger: log.logger))
        let app = SeamApp()
        app.start(.central, on: link)
        await waiting(for: app) { $0.states == [.unsupported] }
        let lines = log.lines.withLock { $0 }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("created outside a world") == true)
        #expect(lines.first?.contains("inhabitProcessWide()") == true)
        #expect(DefaultLink.outside(nil, worlds: 0, logger: log.logger) == nil)
        #expect(DefaultLink.outside("demo", worlds: 1, logger: log.logger) == nil)
    }

    @Test("An invalid world file is reported with the keys of the mistake")
    func senseless() throws {
        let path = FileManager.default.temporaryDirectory.path + "/world-\(UUID().uuidString).json"
        try Data(#"{"machines": [{"name": "a", "position": {"x": 1e999}}]}"#.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let log = Lines()
        _ = DefaultLink.link(named: "world:\(path)", logger: log.logger)
        let bounds = "a number of metres from -1000000 to 1000000 is expected (at machines[0].position.x)"
        #expect(log.lines.withLock { $0 } == ["BLUETOOTH_HOST is invalid. \(path):1 cannot be used: \(bounds)."])
    }

    @Test("A built-in world runs in real time")
    func demo() async {
        let app = ScanningApp(on: DefaultLink.link(named: "demo", logger: Lines().logger))
        await waiting(for: app) { $0.names == ["Heart Rate", "Lamp", "Thermometer"] }
    }

    @Test("A world from a file runs in real time")
    func file() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/world-\(UUID().uuidString).json"
        try Data(ScenarioTests.text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let app = ScanningApp(on: DefaultLink.link(named: "world:\(path)", logger: Lines().logger))
        await waiting(for: app) { $0.names == ["Echo"] }
    }

    @Test("A device in a file may have the name of the app's machine")
    func phone() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/world-\(UUID().uuidString).json"
        let text = #"{"machines": [{"name": "phone"}, {"name": "phone 2", "position": {"x": 2}}]}"#
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let link = DefaultLink.link(named: "world:\(path)", logger: Lines().logger)
        try #require((link as? Machine)?.name == "phone 3")
        let app = ScanningApp(on: link)
        await waiting(for: app) { $0.names == ["phone", "phone 2"] }
    }
}
