import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import ble

/// A session on a machine of a world, and the script that uses it.
@MainActor
final class SessionScript {
    private let world: World
    private let machine: Machine
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

    /// Starts a session.
    init(on machine: Machine, in world: World, pairing: PairingCapability? = nil) async throws {
        (self.machine, self.world) = (machine, world)
        let output = try Output()
        self.output = output
        let printer = Printer(json: true) { line in MainActor.assumeIsolated { output.add(line) } }
        engine = machine.inhabit { SessionEngine(clock: world.clock, pairing: pairing) { printer.print($0) } }
        try await run { try await self.engine.start() }
    }

    /// Runs `work` on the machine, and lets time pass until it has ended.
    private func run(_ work: @escaping @MainActor () async throws -> Void) async throws {
        var isOver = false
        let task = machine.inhabit {
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
    func send(_ line: String) { machine.inhabit { _ = Task { await engine.take(line) } } }

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
    }

    /// The events of these kinds, in order.
    func events(_ kinds: Set<String>) -> [String] {
        lines.compactMap { $0["event"] as? String }.filter { kinds.contains($0) }
    }
}
