import ArgumentParser
import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import ble

@Suite("Pairing prompts in the terminal", .timeLimit(.minutes(30))) @MainActor
struct PairingPromptsTests {
    private static let lock = """
        {"name": "Lock", "services": [{"uuid": "FFA0", "characteristics": [{"uuid": "FFA3",
          "properties": ["read"], "permissions": ["readEncryptionRequired"], "value": "2a"}]}]}
        """

    /// A phone that reads the protected value of the lock; its user accepts every pairing.
    @MainActor private final class Phone {
        private(set) var isAsked = false
        private(set) var value: Data?
        private(set) var isOver = false
        private var user: BluetoothPairing?

        init(_ machine: Machine, _ clock: any Clock<Duration>) {
            user = machine.inhabit {
                BluetoothPairing(capability: .displayYesNo, queue: .main) { [weak self] event in
                    guard case .asked(let prompt) = event else { return }
                    MainActor.assumeIsolated { self?.isAsked = true }
                    prompt.accept()
                }
            }
            let central = machine.inhabit { Central(clock: clock) }
            Task {
                defer { isOver = true }
                try await central.powerOn()
                let lock = try await central.find(PeerReference(text: "Lock"), within: .seconds(60))
                try await central.connect(lock, within: .seconds(60))
                let found = try await central.characteristic(CBUUID(string: "FFA3"), of: lock)
                value = try await central.read(found, of: lock)
            }
        }
    }

    @Test(
        "A question waits while another one is open, and an answer counts only for the open one",
        arguments: 0..<16 as Range<UInt64>,
        [true, false]
    )
    func inTurn(seed: UInt64, isLost: Bool) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.1)), lock = world.machine("lock")
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lock.utf8))
        let served = lock.inhabit { DescribedPeripheral(PeripheralDescription(device), clock: world.clock) { _ in } }
        var lines: [[String: Any]] = []
        func identifiers(_ event: String) -> [String] {
            lines.filter { $0["event"] as? String == event }.compactMap { $0["identifier"] as? String }
        }
        let options = try PairingOptions.parse(["--pairing", "yes-no"])
        let printer = Printer(json: true) { if let line = try? MonitorTests.object($0) { lines.append(line) } }
        let prompts = lock.inhabit { PairingPrompts(options, printer, readsInput: false) }
        var phones: [Phone] = []
        let machines = ["first", "second"].map { world.machine($0, at: .init(x: 2)) }
        for machine in machines {
            phones.append(Phone(machine, world.clock))
            #expect(await world.advance(atMost: .seconds(25)) { phones.allSatisfy(\.isAsked) })
        }
        let first = try #require(identifiers("pairing_asked").first)
        #expect(identifiers("pairing_asked").count == 1)
        if isLost { machines[0].unplugRadio() } else { prompts.answer("yes") }
        #expect(await world.advance(atMost: .seconds(20)) { identifiers("pairing_asked").count == 2 })
        #expect(identifiers("pairing_asked").last != first)
        #expect(await world.advance(atMost: .seconds(20)) { phones[0].isOver })
        #expect(phones[0].value == (isLost ? nil : Data([0x2A])) && !phones[1].isOver)
        prompts.answer(isLost ? "yes" : "no")
        #expect(await world.advance(atMost: .seconds(60)) { phones[1].isOver })
        #expect(phones[1].value == (isLost ? Data([0x2A]) : nil))
        #expect(identifiers("paired").count == 1 && identifiers("pairing_failed").count == 1)
        #expect(!prompts.isAsking)
        prompts.close()
        served.stop()
    }
}
