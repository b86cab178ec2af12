import BLERuntime
import BLESimulation
import CoreBluetoothExtras
import Testing

@MainActor
@Suite("Sequences of values", .timeLimit(.minutes(30)))
struct ValueSequenceTests {
    private let bench = LampBench()

    @Test("A sequence of values ends with an error when the characteristic is removed")
    func removed() async throws {
        let (peripheral, found) = try await bench.connect()
        let old = try #require(found[CBUUID(string: "FFE2")])
        let task = Task { @MainActor in
            for try await _ in peripheral.values(of: old) {}
        }
        await bench.wait { old.isNotifying }
        bench.lamp.offer([.init("FFE0", [.init("FFE1", [.read], value: [7]), .init("FFE3", [.notify])])])
        let error = await #expect(throws: CBError.self) { try await bench.result(of: task) }
        #expect(error?.code == .invalidHandle)
    }
}
