import BLESimulation
import CoreBluetooth
import Testing

@Suite("Movements during a walk", .timeLimit(.minutes(30)))
struct WalkingTests {
    let bench = KnobBench()

    /// A movement that begins during a walk.
    enum Change: CaseIterable { case move, walk }

    /// Reads the signal strength of a peripheral, in dBm.
    private func strength(of peripheral: CBPeripheral) async -> Int? {
        _ = bench.app.take()
        peripheral.readRSSI()
        await bench.wait()
        let call = bench.app.take().first { $0.hasPrefix("rssi") }
        return call?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    @Test("A new movement ends the earlier walk", arguments: Change.allCases)
    func change(_ change: Change) async throws {
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        let near = try #require(await strength(of: peripheral))
        lamp.walk(to: World.Position(x: 60), taking: .seconds(60))
        await bench.wait(30)
        #expect(try #require(await strength(of: peripheral)) < near - 20)
        switch change {
        case .move: lamp.move(to: World.Position(x: 1))
        case .walk: lamp.walk(to: World.Position(x: 1), taking: .seconds(10))
        }
        await bench.wait(11)
        for _ in 0..<5 {
            #expect(try #require(await strength(of: peripheral)) > near - 10)
            await bench.wait(5)
        }
    }

    @Test("A walk starts where the machine was moved immediately before")
    func moveFirst() async throws {
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        let near = try #require(await strength(of: peripheral))
        lamp.move(to: World.Position(x: 60))
        lamp.walk(to: World.Position(x: 1), taking: .seconds(60))
        #expect(try #require(await strength(of: peripheral)) < near - 20)
        await bench.wait(60)
        #expect(try #require(await strength(of: peripheral)) > near - 10)
    }
}
