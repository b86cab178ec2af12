import BLESimulation
import CoreBluetoothExtras
import Synchronization
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

    /// Ways in which a pairing can end while the user is being asked.
    enum Interruption: CaseIterable { case switchedOff, unplugged, disconnected }

    @Test(
        "Pairing ends with an error if the radio or the link is lost while the user is asked",
        arguments: Interruption.allCases
    )
    func interrupted(by interruption: Interruption) async throws {
        let bench = LampBench(pairing: .init(.yesNo))
        let (peripheral, _) = try await bench.connect(), asked = Atomic(false)
        let pairing = bench.phone.inhabit {
            BluetoothPairing(capability: .displayYesNo) { event in
                if case .asked = event { asked.store(true, ordering: .relaxed) }
            }
        }
        let task = Task { @MainActor in try await pairing.pair(with: peripheral) }
        await bench.wait { asked.load(ordering: .relaxed) }
        let wasAsked = asked.load(ordering: .relaxed)
        #expect(wasAsked)
        switch interruption {
        case .switchedOff: bench.phone.switchBluetoothOff()
        case .unplugged: bench.phone.unplugRadio()
        case .disconnected: bench.lamp.disconnectCentrals()
        }
        await #expect(throws: PairingError.self) { try await bench.result(of: task) }
    }

    @Test("Calls of an app without permission throw an error")
    func denied() async throws {
        bench.phone.authorization = .denied
        let pairing = bench.phone.inhabit { BluetoothPairing() }
        let list = Task { @MainActor in try await pairing.bonds() }
        await #expect(throws: PairingError.unsupported) { try await bench.result(of: list) }
    }
}
