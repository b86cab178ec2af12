import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Finding on the command line") @MainActor
struct FindingTests {
    private static let lamp = #"{"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": []}]}"#

    @Test(
        "A peripheral is called as it advertises itself, whatever its GAP service said",
        arguments: 0..<16 as Range<UInt64>
    )
    func advertisedName(seed: UInt64) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.2))
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let description = try JSONDecoder().decode(PeripheralDescription.self, from: Data(Self.lamp.utf8))
        let lamp = sensor.inhabit { DescribedPeripheral(description) { _ in } }
        let central = phone.inhabit { Central(clock: world.clock) }
        var found: CBPeripheral?, isOver = false
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Lamp"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            try await central.discover(peripheral, descriptors: false)
            found = peripheral
        }
        for _ in 0..<120 where !isOver { await world.advance(by: .seconds(1)) }
        try #require(isOver)
        try await work.value
        await world.advance(by: .seconds(10))
        let peripheral = try #require(found)
        #expect(peripheral.name == "sensor")
        #expect(central.name(of: peripheral) == "Lamp")
        let sighting = try #require(central.found)
        #expect(PeerReference(text: "Lamp").matches(sighting))
        #expect(!PeerReference(text: "sensor").matches(sighting))
        lamp.stop()
    }
}
