import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("The short connection interval of new connections")
struct FastStartBehaviourTests {
    /// Connects a bench's app to its device, and returns the peripheral.
    private func connect(_ bench: WorldBench) async throws -> CBPeripheral {
        await bench.publish(.dynamic())
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(20)
        try #require(peripheral.state == .connected)
        return peripheral
    }

    @Test(
        "A connection begins with a short interval, and has the usual one when the app is idle",
        .behaviour("1.2.29"),
        arguments: UInt64(0)..<16
    )
    func idle(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), log = PacketLog(bench.world)
        let peripheral = try await connect(bench)
        #expect(log.firstIntervals(of: "phone").last == .microseconds(7_500))
        #expect(log.intervals(of: "phone") == [.milliseconds(30)])
        withExtendedLifetime(peripheral) {}
    }
}
