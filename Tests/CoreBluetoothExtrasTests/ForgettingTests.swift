import BLESimulation
import CoreBluetoothExtras
import Testing

@Suite("Forgetting a peripheral's services", .timeLimit(.minutes(30)))
struct ForgettingTests {
    @Test(
        "The objects become invalid, notifications end, and everything can be discovered again",
        arguments: 1...16 as ClosedRange<UInt64>
    )
    func again(seed: UInt64) async throws {
        let bench = ExtrasBench(seed: seed, loss: 0.1)
        await bench.publish()
        try await bench.run {
            let (peripheral, found) = try await bench.connect()
            let count = try #require(found[CBUUID(string: "FFF2")]), fixed = try #require(found[CBUUID(string: "FFF1")])
            peripheral.setNotifyValue(true, for: count)
            await bench.world.advance(by: .seconds(1))
            #expect(count.isNotifying)
            try await peripheral.forgetServices()
            #expect(peripheral.services == nil && !count.isNotifying)
            await #expect(throws: CBError.self) { try await peripheral.value(of: fixed) }
            await bench.world.advance(by: .seconds(3))
            #expect(bench.sensor.unsubscribed == 1)
            let service = try #require(try await peripheral.findServices([ExtrasBench.service]).first)
            let again = try #require(try await peripheral.findCharacteristics(of: service).first)
            #expect(again !== fixed && again.uuid == fixed.uuid)
            #expect(try await peripheral.value(of: again) == ExtrasBench.fixedValue)
        }
    }

    @Test("Forgetting requires a connection")
    func disconnected() async throws {
        let bench = ExtrasBench()
        await bench.publish()
        try await bench.run {
            let (peripheral, _) = try await bench.connect()
            try await bench.central.disconnect(peripheral)
            let error = await #expect(throws: CBError.self) { try await peripheral.forgetServices() }
            #expect(error?.code == .notConnected)
        }
    }
}
