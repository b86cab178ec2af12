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
    private let script: SessionScript
    /// The lines that were written, as objects.
    var lines: [[String: Any]] { script.lines }

    init(seed: UInt64 = 1, loss: Double = 0.1, pairing: PairingCapability? = nil) async throws {
        let world = World(seed: seed, conditions: .init(loss: loss))
        self.world = world
        phone = world.machine("phone")
        sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        lamp = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device), clock: world.clock) { _ in } }
        script = try await SessionScript(on: phone, in: world, pairing: pairing)
    }

    func send(_ line: String) { script.send(line) }

    func wait(_ what: String, for isWanted: ([String: Any]) -> Bool) async throws -> [String: Any] {
        try await script.wait(what, for: isWanted)
    }

    func ask(_ id: Int, _ command: String, _ rest: String = "") async throws -> [String: Any] {
        try await script.ask(id, command, rest)
    }

    func answer(to id: Int) async throws -> [String: Any] { try await script.answer(to: id) }

    func events(_ kinds: Set<String>) -> [String] { script.events(kinds) }

    /// Ends the input, or interrupts the session, and the lamp.
    func end(_ end: SessionEngine.End) async throws {
        try await script.end(end)
        lamp.stop()
    }
}
