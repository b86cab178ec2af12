import BLESimulation
import CoreBluetoothExtras
import Testing

/// A phone and a lamp on a virtual radio, whose answers a test chooses.
@MainActor
final class LampBench {
    let world: World
    let phone: Machine
    let central: CBCentralManager
    let lamp: Machine

    /// Creates a world; `pairing` is how the lamp pairs, or `nil` if it does not pair.
    init(pairing: SimulatedPeripheral.Pairing? = nil) {
        let world = World(seed: 1)
        phone = world.machine("phone")
        central = phone.inhabit { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "phone")) }
        var device = SimulatedPeripheral(
            name: "Lamp",
            at: World.Position(x: 1),
            services: [
                .init(
                    "FFE0",
                    [
                        .init("FFE1", [.read, .write, .writeWithoutResponse], value: [7]),
                        .init("FFE2", [.notify]),
                    ]
                )
            ]
        )
        device.pairing = pairing
        lamp = world.place(device)
        self.world = world
    }

    /// Lets time pass, in which tasks go on.
    func wait(_ seconds: Int) async {
        for _ in 0..<(100 * seconds) { await world.advance(by: .milliseconds(10)) }
    }

    /// Lets time pass until `condition` holds, 20 s at most.
    func wait(until condition: () -> Bool) async {
        for _ in 0..<2_000 where !condition() { await world.advance(by: .milliseconds(10)) }
    }

    /// Waits for what a task does, 20 s of virtual time at most.
    func result<Value: Sendable>(of task: Task<Value, any Error>) async throws -> Value {
        let end = Ending()
        let watch = Task { @MainActor in
            _ = await task.result
            end.hasCome = true
        }
        await wait { end.hasCome }
        if !end.hasCome { Issue.record("a task has not ended") }
        task.cancel()
        await watch.value
        return try await task.value
    }

    /// Connects the lamp, and returns it and its characteristics by type.
    ///
    /// `other` is the central that connects it; the bench's central if `nil`.
    func connect(by other: CBCentralManager? = nil) async throws -> (CBPeripheral, [CBUUID: CBCharacteristic]) {
        let central = other ?? central
        return try await result(of: Task { @MainActor in try await connectNow(central) }).object
    }

    private func connectNow(
        _ central: CBCentralManager
    ) async throws -> Handed<(CBPeripheral, [CBUUID: CBCharacteristic])> {
        let peripheral = try await discover(by: central)
        try await central.connect(peripheral, timeout: .seconds(20))
        var found: [CBUUID: CBCharacteristic] = [:]
        for service in try await peripheral.findServices() {
            for characteristic in try await peripheral.findCharacteristics(of: service) {
                found[characteristic.uuid] = characteristic
            }
        }
        return Handed(object: (peripheral, found))
    }

    private func discover(by central: CBCentralManager) async throws -> CBPeripheral {
        try await central.poweredOn()
        for await discovery in central.discoveries() { return discovery.peripheral }
        throw CBError(.unknown)
    }
}

/// Whether a task has ended.
@MainActor
private final class Ending {
    var hasCome = false
}

/// What one task hands to another.
private struct Handed<Object>: @unchecked Sendable {
    let object: Object
}
