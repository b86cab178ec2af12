import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import ble

/// A session on a phone in a world, with a lamp on another machine.
@MainActor
final class SessionBench {
    static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "write", "writeWithoutResponse", "notify"], "value": "11"},
          {"uuid": "FFA2", "properties": ["write"], "value": "11"},
          {"uuid": "FFA3", "properties": ["read"], "permissions": ["readEncryptionRequired"], "value": "2a"}]},
          {"uuid": "181A", "characteristics": [
          {"uuid": "2A6E", "properties": ["read", "notify"], "value": "7008",
            "descriptors": [{"uuid": "2901", "text": "Outside"}],
            "notify": {"every": 100, "values": ["0100", "0200", "0300", "0400", "0500"]}}]}]}
        """

    let world: World
    let phone: Machine
    let sensor: Machine
    private let lamp: DescribedPeripheral
    private let engine: SessionEngine
    private let output: Output
    /// The lines that were written, as objects.
    var lines: [[String: Any]] { output.lines }

    /// The lines that the engine has written, each checked against the schema.
    @MainActor
    private final class Output {
        var lines: [[String: Any]] = []
        private let schema: SchemaCheck

        init() throws { schema = try SchemaCheck() }

        func add(_ line: String) {
            guard let object = try? MonitorTests.object(line) else {
                Issue.record("\(line)")
                return
            }
            let violation = schema.violation(of: "line", by: object)
            #expect(violation == nil, "\(line)")
            for (key, value) in object where !["id", "event"].contains(key) {
                // The keys that other commands print as well have the same kinds of values.
                if let kind = JSONKey.kind(of: key, in: "") { #expect(kind.accepts(value), "\(key) in \(line)") }
            }
            lines.append(object)
        }
    }

    init(seed: UInt64 = 1, loss: Double = 0.1, pairing: PairingCapability? = nil) async throws {
        let world = World(seed: seed, conditions: .init(loss: loss))
        self.world = world
        phone = world.machine("phone")
        sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        lamp = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device), clock: world.clock) { _ in } }
        let output = try Output()
        self.output = output
        let printer = Printer(json: true) { line in MainActor.assumeIsolated { output.add(line) } }
        engine = phone.inhabit { SessionEngine(clock: world.clock, pairing: pairing) { printer.print($0) } }
        try await run { try await self.engine.start() }
    }

    /// Runs `work` on the phone, and lets time pass until it has ended.
    private func run(_ work: @escaping @MainActor () async throws -> Void) async throws {
        var isOver = false
        let task = phone.inhabit {
            Task {
                defer { isOver = true }
                try await work()
            }
        }
        for _ in 0..<1_200 where !isOver { await world.advance(by: .milliseconds(100)) }
        try #require(isOver, "\(lines)")
        try await task.value
    }

    /// Passes a line to the session.
    func send(_ line: String) { phone.inhabit { _ = Task { await engine.take(line) } } }

    /// Waits until the session has written a line for which `isWanted` returns true, and returns the first such line.
    func wait(
        _ what: String,
        for isWanted: ([String: Any]) -> Bool
    ) async throws -> [String: Any] {
        for _ in 0..<1_200 {
            if let line = lines.first(where: isWanted) { return line }
            await world.advance(by: .milliseconds(100))
        }
        let line = lines.first(where: isWanted)
        return try #require(line, "\(what) is not in \(lines)")
    }

    /// Sends a command with an identifier, and waits for its answer.
    func ask(_ id: Int, _ command: String, _ rest: String = "") async throws -> [String: Any] {
        send(#"{"id": \#(id), "command": "\#(command)"\#(rest.isEmpty ? "" : ", " + rest)}"#)
        return try await answer(to: id)
    }

    /// Waits for the answer to the command with an identifier.
    func answer(to id: Int) async throws -> [String: Any] {
        try await wait("an answer to \(id)") { $0["id"] as? Int == id }
    }

    /// Ends the input, or interrupts the session.
    func end(_ end: SessionEngine.End) async throws {
        try await run {
            if end == .interrupted { self.engine.interrupt() } else { await self.engine.finish() }
            await self.engine.close(because: end)
        }
        lamp.stop()
    }

    /// The events of these kinds, in order.
    func events(_ kinds: Set<String>) -> [String] {
        lines.compactMap { $0["event"] as? String }.filter { kinds.contains($0) }
    }
}
