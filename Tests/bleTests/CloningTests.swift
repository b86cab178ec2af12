import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Cloning a device") @MainActor
struct CloningTests {
    private static let original = SimulatedPeripheral(
        name: "Scale",
        services: [
            .init("FFC0", [.init("FFC1", [.read], value: [0x33])], isPrimary: false),
            .init(
                "FFA0",
                [
                    .init("FFA1", [.read, .notify], value: [1, 0xAB], descriptors: [.init(text: "Weight")]),
                    .init("FFA2", [.write]),
                ],
                includes: ["FFC0"]
            ),
            .init("FFB0", [], isAdvertised: false),
        ]
    )

    @Test("gives a world with a device that has the same services, values and descriptors")
    func clone() async throws {
        let world = World(seed: 3)
        world.place(Self.original)
        let central = world.inhabit { Central(clock: world.clock) }
        var text: String?
        let task = Task {
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Scale"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let services = try await central.discover(peripheral, descriptors: true)
            var device = ClonedDevice("Scale", seenAs: central.found)
            for service in ClonedDevice.inOrder(services) {
                try await device.add(service, of: peripheral, central, Printer(json: true) { _ in })
            }
            text = device.world
        }
        #expect(await world.advance(atMost: .seconds(120)) { text != nil })
        try await task.value
        let copy = try Scenario(json: Data(try #require(text).utf8))
        #expect(copy.peripherals == [Self.original])
    }

    @Test(
        "A description for a server is refused if it has a key of a world or a mistyped one, which is named",
        arguments: [
            (#"{"machines": []}"#, "“machines”", "world:FILE"),
            (
                #"{"name": "x", "services": [{"uuid": "180F", "charateristics": []}]}"#, "“charateristics”",
                "services[0]"
            ),
            (
                #"{"name": "x", "services": [{"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": [],"#
                    + #" "notify": {}}]}]}"#,
                "“notify”", #""ticks""#
            ),
        ]
    )
    func strangers(json: String, key: String, hint: String) throws {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let stranger = try #require(DescriptionKeys.peripheral.stranger(in: object))
        #expect(stranger.contains(key) && stranger.contains(hint), "\(stranger)")
    }
}
