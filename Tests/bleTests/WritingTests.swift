import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Writing on the command line") @MainActor
struct WritingTests {
    private static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "writeWithoutResponse"], "value": "0x11"}]}]}
        """

    @Test(
        "A value without response has been taken when the step is over, however long discovery is ago",
        arguments: 0..<16 as Range<UInt64>,
        [false, true]
    )
    func commands(seed: UInt64, waits: Bool) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.3))
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let description = try JSONDecoder().decode(PeripheralDescription.self, from: Data(Self.lamp.utf8))
        var taken: [String] = [], seen: [String]?, isOver = false
        let lamp = sensor.inhabit {
            DescribedPeripheral(description) { fact in
                if fact.event == "written" { taken.append(fact.fields["value"] as? String ?? "") }
            }
        }
        let central = phone.inhabit { Central() }
        let mayWrite = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Lamp"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let found = try await central.characteristic(CBUUID(string: "FFA1"), of: peripheral)
            if waits { for await _ in mayWrite.stream { break } }
            try await central.writeCommand(Data([0xAB]), to: found, of: peripheral)
            seen = taken
            try await central.disconnect(peripheral)
        }
        for second in 0..<120 where !isOver {
            if second == 60 { mayWrite.continuation.yield() }
            await world.advance(by: .seconds(1))
        }
        try #require(isOver)
        try await work.value
        #expect(seen == ["ab"])
        lamp.stop()
    }
}
