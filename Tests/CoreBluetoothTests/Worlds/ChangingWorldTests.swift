import BLERuntime
import BLEWire
import CoreBluetooth
import Testing

@testable import BLEHost
@testable import BLESimulation

@Suite("Services that change right after discovery")
struct ChangingWorldTests {
    /// What a server does when it has been found.
    enum Change: CaseIterable { case nothing, adding, removing }

    /// What a sensor with two services does, and what an app on a phone hears of it.
    private func hear(_ change: Change, _ bench: WorldBench) async throws -> (calls: [String], CBPeripheral) {
        let others = ["FFE0", "FFE1"].map { CBMutableService(type: CBUUID(string: $0), primary: true) }
        await bench.publish()
        bench.server.add(others[0])
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(5)
        _ = bench.app.take()
        peripheral.discoverServices(nil)
        var calls: [String] = []
        for _ in 0..<200 where calls.isEmpty {
            await bench.world.advance(by: .milliseconds(20))
            calls += bench.app.take()
        }
        #expect(calls == ["services ok"])
        let found = peripheral.services?.map(\.uuid.uuidString) ?? []
        #expect(found.contains("FFF0") && found.contains("FFE0"))
        switch change {
        case .nothing: break
        case .adding: bench.server.add(others[1])
        case .removing: bench.server.remove(others[0])
        }
        await bench.wait(10)
        return (bench.app.take(), peripheral)
    }

    /// Expects that an app has heard of a change once, and finds what there is now.
    private func expect(_ change: Change, of calls: [String], _ peripheral: CBPeripheral, _ bench: WorldBench) async {
        let modified: [String] =
            switch change {
            case .nothing: []
            case .adding: ["modified []"]
            case .removing: [#"modified ["FFE0"]"#]
            }
        #expect(calls == modified)
        #expect(bench.app.invalidated.count == (change == .removing ? 1 : 0))
        peripheral.discoverServices([CBUUID(string: "FFE0"), CBUUID(string: "FFE1")])
        await bench.wait()
        let found = peripheral.services?.map(\.uuid.uuidString).filter { $0.hasPrefix("FFE") }.sorted()
        #expect(found == (change == .nothing ? ["FFE0"] : change == .adding ? ["FFE0", "FFE1"] : []))
    }

    @Test("The app receives the change once", arguments: 0..<16 as Range<UInt64>, Change.allCases)
    func late(seed: UInt64, change: Change) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1)
        let (calls, peripheral) = try await hear(change, bench)
        await expect(change, of: calls, peripheral, bench)
    }

    @Test(
        "The app is told once even if the peer indicates only changes after it was asked to",
        arguments: 0..<16 as Range<UInt64>,
        Change.allCases
    )
    func untold(seed: UInt64, change: Change) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1)
        bench.sensor.forgetClientFeatures()
        let (calls, peripheral) = try await hear(change, bench)
        await expect(change, of: calls, peripheral, bench)
    }
}

extension Machine {
    /// Gives a machine that has done nothing yet a host that refuses nobody who does not know its services.
    fileprivate func forgetClientFeatures() {
        let full = GATTDatabase(deviceName: name, appearance: 0)
        let features = full.attributes.first { $0.type == GATT.clientFeatures }?.handle ?? .none
        var database = GATTDatabase()
        for service in full.services {
            let members = full.attributes(in: service.range).filter {
                $0.handle != features && $0.handle.wire + 1 != features.wire
            }
            database.append(service, members)
        }
        world.core.withLock { core in
            let configuration = Host.Configuration(name: name, identifierSecret: 7)
            core.stations[index].host = Host(configuration: configuration, random: SeededGenerator(seed: 7))
            core.stations[index].host.withLayers(at: core.now) { attributes, _ in
                attributes = AttributeLayer(configuration: .init(), database: database)
            }
            core.stations[index].host.transportOpened(at: core.now)
        }
    }
}
