import BLERuntime
import BLESimulation
import CoreBluetoothExtras
import Testing

@testable import BLEDaemon

@Suite("Pairing objects and a restart of the daemon", .timeLimit(.minutes(30)))
struct PairingRestartTests {
    private static func lock(_ name: String) -> SimulatedPeripheral {
        var device = SimulatedPeripheral(
            name: name,
            services: [.init("FFE0", [.init("FFE1", [.read], value: [7])])]
        )
        device.pairing = .init(.display, passkey: 123_456)
        return device
    }

    private func connect(to name: String, by central: CBCentralManager) async throws -> CBPeripheral {
        try await central.poweredOn()
        for await discovery in central.discoveries() where discovery.peripheral.name == name {
            try await central.connect(discovery.peripheral, timeout: .seconds(30))
            return discovery.peripheral
        }
        throw CBError(.unknown)
    }

    @Test("A pairing and its prompt end with the daemon, and the next daemon prompts the same object")
    func restart() async throws {
        let bench = try DaemonBench(Scenario(peripherals: [Self.lock("Front"), Self.lock("Back")]))
        let central = bench.central(), events = Locked<[String]>([]), prompts = Locked<[PairingPrompt]>([])
        let pairing = Bluetooth.$link.withValue(DaemonLink(to: bench.path)) {
            BluetoothPairing(capability: .keyboardOnly) { event in
                switch event {
                case .asked(let prompt):
                    prompts.withLock { $0.append(prompt) }
                    events.withLock { $0.append("asked") }
                case .withdrawn: events.withLock { $0.append("withdrawn") }
                case .paired: events.withLock { $0.append("paired") }
                case .failed: events.withLock { $0.append("failed") }
                }
            }
        }
        let front = try await connect(to: "Front", by: central)
        let first = Task { try await pairing.pair(with: front) }
        try await waiting { events.withLock { $0 } == ["asked"] }
        bench.stop()
        await #expect(throws: PairingError.unsupported) { try await first.value }
        try await waiting { events.withLock { $0 } == ["asked", "withdrawn"] }
        try await waiting { central.state != .poweredOn }
        try bench.start()
        let back = try await connect(to: "Back", by: central)
        let second = Task { try await pairing.pair(with: back) }
        try await waiting { events.withLock { $0 }.count == 3 }
        prompts.withLock { $0.last }?.enter("123456")
        #expect(try await second.value == .passkeyEntry)
        try await waiting { events.withLock { $0 } == ["asked", "withdrawn", "asked", "paired"] }
        #expect(try await pairing.bonds().map(\.identifier) == [back.identifier])
    }
}
