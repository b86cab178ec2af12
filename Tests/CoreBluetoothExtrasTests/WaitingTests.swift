import BLESimulation
import Testing

@testable import CoreBluetoothExtras

@MainActor
@Suite("Tasks that wait", .timeLimit(.minutes(30)))
struct WaitingTests {
    private let bench = LampBench()

    @Test("Whoever waits for what is so already needs no event")
    func room() async throws {
        let (peripheral, found) = try await bench.connect()
        let sink = try #require(found[CBUUID(string: "FFE1")])
        #expect(peripheral.canSendWriteWithoutResponse)
        try await bench.result(of: Task { @MainActor in try await peripheral.roomToSend() })
        for _ in 0..<600 { peripheral.writeValue(Data([0]), for: sink, type: .withoutResponse) }
        #expect(!peripheral.canSendWriteWithoutResponse)
        let senders = (1...40).map { number in
            Task { @MainActor in try await peripheral.send(Data([UInt8(number)]), to: sink) }
        }
        for sender in senders { try await bench.result(of: sender) }
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait { peripheral.state == .disconnected }
        let late = Task { @MainActor in try await peripheral.roomToSend() }
        let error = await #expect(throws: CBError.self) { try await bench.result(of: late) }
        #expect(error?.code == .notConnected)
    }
}
