import BLESimulation
import CoreBluetoothExtras
import Testing

@Suite("Apps' policies for unattended pairing", .timeLimit(.minutes(30)))
struct UnattendedPairingTests {
    typealias Bench = PairingTests.Bench

    /// What the phone's app is told when it reads a value for trusted devices.
    private func read(_ bench: Bench) async throws -> Result<Data, any Error> {
        let (peripheral, value) = try await bench.connect()
        do {
            return .success(try await peripheral.value(of: value))
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "An app that forbids unattended pairing gets the device's error, and nothing is stored",
        arguments: UInt64(0)..<16
    )
    func never(seed: UInt64) async throws {
        let bench = Bench(seed: seed, loss: 0.1)
        let phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        phone.pairing.insist(on: PairingPolicy(unattendedPairing: .never))
        try await bench.run {
            let result = try await read(bench)
            let error = #expect(throws: CBATTError.self) { try result.get() }
            #expect(error?.code == .insufficientAuthentication)
            #expect(try await phone.pairing.bonds().isEmpty)
            #expect(try await lock.pairing.bonds().isEmpty)
        }
        #expect(lock.heard.methods.isEmpty)
    }

    @Test("With that policy both ends ask the user, even if no number can be shown", arguments: UInt64(0)..<16)
    func consent(seed: UInt64) async throws {
        let bench = Bench(seed: seed, loss: 0.1)
        let phone = bench.attend(bench.phone, .noInputNoOutput), lock = bench.attend(bench.lock, .noInputNoOutput)
        for end in [phone, lock] { end.pairing.insist(on: PairingPolicy(unattendedPairing: .never)) }
        try await bench.run {
            let result = try await read(bench)
            #expect(try result.get() == Data([42]))
            #expect(try await phone.pairing.bonds().count == 1)
        }
        #expect(phone.heard.questions == [.consent(replacesBond: false)])
        #expect(lock.heard.questions == [.consent(replacesBond: false)])
    }

    @Test("A user who declines a pairing without numbers prevents it")
    func rejected() async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, .noInputNoOutput) { $0.reject() }
        let lock = bench.attend(bench.lock, nil)
        phone.pairing.insist(on: PairingPolicy(unattendedPairing: .never))
        try await bench.run {
            let result = try await read(bench)
            #expect(throws: CBATTError.self) { try result.get() }
            #expect(try await lock.pairing.bonds().isEmpty)
        }
    }

    @Test(
        "Pairing requested by a program succeeds under any policy",
        arguments: [UnattendedPairing?.none, .never, .always]
    )
    func onDemand(unattended: UnattendedPairing?) async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        phone.pairing.insist(on: PairingPolicy(unattendedPairing: unattended))
        try await bench.run {
            let (peripheral, _) = try await bench.connect()
            #expect(try await phone.pairing.pair(with: peripheral) == .justWorks)
            #expect(try await lock.pairing.bonds().count == 1)
        }
    }
}
