import BLESimulation
import CoreBluetoothExtras
import Testing

@MainActor
@Suite("Calls of pairing objects", .timeLimit(.minutes(30)))
struct PairingCallTests {
    private let bench = LampBench()

    @Test("Calls succeed again after the adapter was unplugged and plugged in")
    func replugged() async throws {
        let pairing = bench.phone.inhabit { BluetoothPairing() }
        await bench.wait { bench.central.state == .poweredOn }
        bench.phone.unplugRadio()
        await bench.wait(3)
        bench.phone.plugInRadio()
        await bench.wait { bench.central.state == .poweredOn }
        #expect(try await bench.result(of: Task { @MainActor in try await pairing.bonds() }).isEmpty)
    }

    @Test("Calls of an app without permission throw an error")
    func denied() async throws {
        bench.phone.authorization = .denied
        let pairing = bench.phone.inhabit { BluetoothPairing() }
        let list = Task { @MainActor in try await pairing.bonds() }
        await #expect(throws: PairingError.unsupported) { try await bench.result(of: list) }
    }
}
