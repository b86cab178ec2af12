import BLESimulation
import CoreBluetoothExtras
import Testing

@MainActor
@Suite("Tasks that connect", .timeLimit(.minutes(30)))
struct ConnectingTaskTests {
    private let bench = LampBench()

    @Test("Connecting to a peripheral that is no longer valid throws an error")
    func invalid() async throws {
        let (peripheral, _) = try await bench.connect()
        bench.phone.unplugRadio()
        await bench.wait(3)
        bench.phone.plugInRadio()
        await bench.wait { bench.central.state == .poweredOn }
        let task = Task { @MainActor in try await bench.central.connect(peripheral, timeout: .seconds(1)) }
        let error = await #expect(throws: CBError.self) { try await bench.result(of: task) }
        #expect(error?.code == .unknownDevice)
    }

    @Test("A task that was cancelled before it connects leaves the existing connection")
    func cancelledBefore() async throws {
        let (peripheral, _) = try await bench.connect()
        let task = Task { @MainActor in try await bench.central.connect(peripheral, timeout: .seconds(5)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await bench.result(of: task) }
        await bench.wait(1)
        #expect(peripheral.state == .connected)
    }
}
