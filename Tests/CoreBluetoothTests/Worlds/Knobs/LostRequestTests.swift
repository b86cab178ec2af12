import BLESimulation
import CoreBluetooth
import Testing

@Suite("Lost connection requests", .timeLimit(.minutes(30)))
struct LostRequestTests {
    @Test("Connection requests that were lost are not lost again after the radio is replaced")
    func replaced() async throws {
        let bench = KnobBench(), lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.find())
        var faults = Machine.Faults()
        faults.lostConnectionRequests = 100
        lamp.cause(faults)
        var times: [Duration] = []
        for _ in 0..<2 {
            let start = bench.world.now
            bench.central.connect(peripheral)
            #expect(await bench.world.advance(atMost: .seconds(600)) { peripheral.state == .connected })
            times.append(bench.world.now - start)
            lamp.unplugRadio()
            await bench.wait(10)
            lamp.plugInRadio()
            await bench.wait()
        }
        #expect(times[0] > .seconds(10) && times[1] < .seconds(5), "\(times)")
    }
}
