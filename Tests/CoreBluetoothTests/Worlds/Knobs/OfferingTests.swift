import BLESimulation
import CoreBluetooth
import Testing

@Suite("Changing a simulated device's services", .timeLimit(.minutes(30)))
struct OfferingTests {
    let bench = KnobBench()

    @Test("Services change while a central is connected")
    func changing() async throws {
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        lamp.offer([.init("FFD0", [.init("FFD1", [.read], value: [1])])])
        await bench.wait(5)
        #expect(bench.app.take().first == #"modified ["FFE0"]"#)
        await bench.explore(peripheral)
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFD0"])
    }

    @Test("A pending notification is not sent once its characteristic is removed")
    func following() async throws {
        let lamp = bench.world.place(.lamp)
        lamp.onWrite("FFE1") { _ in .accepted.notifying([1, 80], of: "FFE2", after: .seconds(20)) }
        let peripheral = try #require(await bench.connect())
        let written = try #require(peripheral.characteristic("FFE1"))
        peripheral.writeValue(Data([1]), for: written, type: .withResponse)
        await bench.wait()
        lamp.offer([.init("FFD0", [.init("FFD1", [.read], value: [1]), .init("FFD2", [.notify])])])
        await bench.wait()
        await bench.explore(peripheral)
        let other = try #require(peripheral.characteristic("FFD2"))
        peripheral.setNotifyValue(true, for: other)
        await bench.wait(30)
        #expect(other.isNotifying)
        #expect(other.value == nil)
    }
}
