import BLEHost
import BLERuntime
import BLEWire
import Testing

@testable import BLESimulation
@testable import CoreBluetooth

@Suite("Apps' view of unattended pairing", .timeLimit(.minutes(30)))
struct SecurityBehaviourTests {
    /// A session of a machine with its host that looks after pairing.
    private struct Keys {
        private final class Heard: Sendable {
            let events = Locked<[SecurityEvent]>([])
        }

        private let heard: Heard
        let session: any HostSession

        init(of machine: Machine) {
            let heard = Heard()
            self.heard = heard
            session = machine.open(.agent, on: DispatchQueue(label: "keys")) { event in
                if case .security(let event) = event { heard.events.withLock { $0.append(event) } }
            }
        }

        /// What the host has said since the last time.
        func take() -> [SecurityEvent] {
            heard.events.withLock { events in
                defer { events = [] }
                return events
            }
        }

        /// The bonds of the host.
        func bonds(_ bench: WorldBench) async -> [BondedPeer] {
            _ = take()
            session.send(.security(.listBonds))
            await bench.wait()
            return take().compactMap { if case .bonds(let bonds) = $0 { bonds } else { nil } }.last ?? []
        }
    }

    private func value(_ permissions: CBAttributePermissions) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: "FFF1"),
            properties: .read,
            value: Data([42]),
            permissions: permissions
        )
    }

    @Test(
        "A device does not pair with strangers while no app has protected values",
        .behaviour("4.11.1"),
        arguments: UInt64(0)..<16
    )
    func stranger(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), phone = Keys(of: bench.phone), sensor = Keys(of: bench.sensor)
        let peripheral = try #require(await bench.connect(value(.readable)))
        phone.session.send(.security(.pair(PeerIdentifier(peripheral.identifier))))
        await bench.wait(5)
        let failures = phone.take().compactMap { if case .failed(_, let failure) = $0 { failure } else { nil } }
        #expect(failures == [.refusedByPeer(.pairingNotSupported)])
        #expect(await sensor.bonds(bench).isEmpty)
        #expect(await phone.bonds(bench).isEmpty)
        #expect(peripheral.state == .connected)
    }

    @Test(
        "Devices pair unattended as soon as an app has published a value that requires it",
        .behaviour("4.11.1"),
        arguments: UInt64(0)..<16
    )
    func needed(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), phone = Keys(of: bench.phone), sensor = Keys(of: bench.sensor)
        let peripheral = try #require(await bench.connect(value(.readEncryptionRequired)))
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait(5)
        #expect(bench.app.take() == ["value FFF1 [42] ok"])
        #expect(await phone.bonds(bench).count == 1)
        #expect(await sensor.bonds(bench).count == 1)
    }

    @Test(
        "With a policy that forbids unattended pairing, an app receives the device's error",
        .behaviour("4.11.2"),
        arguments: UInt64(0)..<16,
        [true, false]
    )
    func never(seed: UInt64, isOfPhone: Bool) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), phone = Keys(of: bench.phone), sensor = Keys(of: bench.sensor)
        (isOfPhone ? phone : sensor).session.send(.security(.setPolicy(PairingPolicy(unattended: .never))))
        let peripheral = try #require(await bench.connect(value(.readEncryptionRequired)))
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait(5)
        #expect(bench.app.take() == ["value FFF1 [] CBATTError 5"])
        #expect(await phone.bonds(bench).isEmpty)
        #expect(await sensor.bonds(bench).isEmpty)
    }

    @Test(
        "With a policy that always allows it, a device pairs although no app requires it",
        .behaviour("4.11.2"),
        arguments: UInt64(0)..<16
    )
    func always(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), phone = Keys(of: bench.phone), sensor = Keys(of: bench.sensor)
        sensor.session.send(.security(.setPolicy(PairingPolicy(unattended: .always))))
        let peripheral = try #require(await bench.connect(value(.readable)))
        phone.session.send(.security(.pair(PeerIdentifier(peripheral.identifier))))
        await bench.wait(5)
        #expect(await sensor.bonds(bench).count == 1)
    }

    @Test(
        "A value that requires more than the devices can provide is refused, and the bond is kept",
        .behaviour("4.11.3"),
        arguments: UInt64(0)..<16
    )
    func hopeless(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), phone = Keys(of: bench.phone), sensor = Keys(of: bench.sensor)
        let secret = CBMutableCharacteristic(
            type: CBUUID(string: "FFF2"),
            properties: .read,
            value: nil,
            permissions: CBAttributePermissions(
                rawValue: UInt(AttributePermissions.readAuthenticationRequired.rawValue)
            )
        )
        let peripheral = try #require(await bench.connect(value(.readEncryptionRequired), secret))
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait(5)
        #expect(bench.app.take() == ["value FFF1 [42] ok"])
        _ = (phone.take(), sensor.take())
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.central.connect(peripheral)
        await bench.explore(peripheral)
        _ = bench.app.take()
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF2")))
        await bench.wait(5)
        #expect(bench.app.take() == ["value FFF2 [] CBATTError 5"])
        let failures = sensor.take().count { if case .failed = $0 { true } else { false } }
        #expect(failures == 0, "the sensor was asked for nothing")
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [42] ok"])
    }

    @Test(
        "A missing key or late encryption at the peer ends the connection with its own error",
        .behaviour("4.11.4"),
        arguments: [(Failure.hci(.pinOrKeyMissing), "CBError 14"), (.encryptionTimedOut, "CBError 15")]
    )
    func missingKey(failure: Failure, expected: String) async {
        let bench = CentralBench(), peripheral = await bench.discover()
        bench.manager.connect(peripheral, options: nil)
        await bench.session.tell(.connectFailed(CentralBench.peer, failure))
        #expect(bench.app.take() == ["failed \(expected)"])
    }
}
