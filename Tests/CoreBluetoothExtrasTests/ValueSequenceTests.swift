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

    @Test("A sequence of values ends with an error when the manager is released, even before the sequence began")
    func released() async throws {
        let app = Phone(bench)
        let (peripheral, found) = try await bench.connect(by: app.central)
        let state = try #require(found[CBUUID(string: "FFE2")])
        let task = Task { @MainActor in
            for try await _ in peripheral.values(of: state) {}
        }
        await bench.wait { state.isNotifying }
        app.central = nil
        let error = await #expect(throws: CBError.self) { try await bench.result(of: task) }
        #expect(error?.code == .notConnected)
        let late = Task { @MainActor in
            for try await _ in peripheral.values(of: state) {}
        }
        await #expect(throws: CBError.self) { try await bench.result(of: late) }
    }

    /// An app that can release its manager.
    @MainActor
    private final class Phone {
        var central: CBCentralManager?

        init(_ bench: LampBench) {
            central = bench.phone.inhabit {
                CBCentralManager(delegate: nil, queue: DispatchQueue(label: "another app"))
            }
        }
    }
}
