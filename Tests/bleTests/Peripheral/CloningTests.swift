import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import CoreBluetooth
import Testing

@testable import ble

@Suite("Cloning a device") @MainActor
struct CloningTests {
    private static let original: SimulatedPeripheral = {
        var device = described
        device.address = try? .init("C0:FF:EE:00:00:01")
        return device
    }()

    private static let described = SimulatedPeripheral(
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

    /// A device that advertises more than apps of Core Bluetooth may.
    private static var rich: SimulatedPeripheral {
        var device = original
        device.services.removeLast()
        device.manufacturerData = [0xFF, 0xFF, 1]
        device.transmitPower = -4
        return device
    }

    /// What `ble clone` writes of a device.
    private static func clone(_ name: String, in world: World) async throws -> String {
        let central = world.inhabit { Central(clock: world.clock) }
        var text: String?
        let task = Task {
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: name), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let services = try await central.discover(peripheral, descriptors: true, incomplete: { _ in })
            var device = ClonedDevice(name, seenAs: central.found)
            for service in ClonedDevice.inOrder(services) {
                try await device.add(service, of: peripheral, central, Printer(json: true) { _ in })
            }
            text = device.text
        }
        #expect(await world.advance(atMost: .seconds(120)) { text != nil })
        try await task.value
        return try #require(text)
    }

    @Test("The clone has the same services, values and descriptors")
    func clone() async throws {
        let world = World(seed: 3)
        world.place(Self.original)
        let text = try await Self.clone("Scale", in: world)
        let copy = try Scenario(json: Data(text.utf8))
        #expect(copy.peripherals == [Self.original])
    }

    @Test("A descriptor that the device refuses to read is left out of the clone")
    func refused() async throws {
        let world = World(seed: 3), scale = world.machine("scale", at: .init(x: 1))
        let device = SimulatedPeripheral(name: "Scale", services: [])
        let advertiser = scale.inhabit {
            DescribedPeripheral(PeripheralDescription(device), clock: world.clock) { _ in }
        }
        let session = scale.inhabit { DefaultLink.current.open(.peripheral, on: .main) { _ in } }
        func id(_ number: UInt32) -> LocalAttributeID { LocalAttributeID(rawValue: number) }
        let characteristic = CharacteristicDefinition(
            id: id(2),
            uuid: .short(0xFFD1),
            properties: .read,
            permissions: .readable,
            value: [7],
            descriptors: [
                DescriptorDefinition(id: id(3), uuid: .short(0x2908), permissions: [], value: [1, 2]),
                DescriptorDefinition(id: id(4), uuid: .short(0x2901), value: Array("Weight".utf8)),
            ]
        )
        let service = ServiceDefinition(id: id(1), uuid: .short(0xFFD0), characteristics: [characteristic])
        session.send(.service(.addService(service)))
        let copy = try Scenario(json: Data(try await Self.clone("Scale", in: world).utf8)).peripherals[0]
        #expect(copy.services.map(\.uuid) == ["FFD0"])
        #expect(copy.services.first?.characteristics.map(\.value) == [[7]])
        #expect(copy.services.first?.characteristics.map(\.descriptors) == [[.init(text: "Weight")]])
        advertiser.stop()
        session.close()
    }

    /// Packets that no fields of a file make up: in an unusual order, of an unknown type, or malformed at the end.
    private static let packets: [(advertisement: [UInt8], response: [UInt8]?, isExtended: Bool)] = [
        ([6, 0x09] + Array("Scale".utf8) + [2, 0x01, 4, 3, 0x19, 0, 3], nil, false),
        (
            [27, 0xFF] + [UInt8](repeating: 9, count: 26) + [2, 0x01, 6], [6, 0x09] + Array("Scale".utf8) + [9, 9],
            false
        ),
        ([6, 0x09] + Array("Scale".utf8) + [90, 0xFF] + [UInt8](repeating: 9, count: 89), nil, true),
    ]

    @Test("The clone has raw packets if single fields cannot express the advertisement", arguments: 0..<3)
    func octets(index: Int) async throws {
        let world = World(seed: 5)
        var device = Self.original
        (device.advertisement, device.scanResponse, device.isExtended) = Self.packets[index]
        device.services[2].isAdvertised = true
        world.place(device)
        let text = try await Self.clone("Scale", in: world)
        let copy = try Scenario(json: Data(text.utf8))
        #expect(copy.peripherals == [device])
    }

    @Test("The clone's file can be served, and a clone of that is identical")
    func served() async throws {
        var texts: [String] = []
        for _ in 0..<2 {
            let world = World(seed: 4)
            let served: DescribedPeripheral?
            if let text = texts.last {
                let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path
                try Data(text.utf8).write(to: URL(filePath: path))
                defer { try? FileManager.default.removeItem(atPath: path) }
                let description = try PeripheralDescription(path: path)
                #expect(description.remarks == ["“address” is ignored: it has an effect only in simulated worlds."])
                served = world.machine("server").inhabit { DescribedPeripheral(description) { _ in } }
            } else {
                world.place(Self.rich)
                served = nil
            }
            texts.append(try await Self.clone("Scale", in: world))
            served?.stop()
        }
        let withoutAddress = texts.map { $0.split(separator: "\n").filter { !$0.contains("\"address") } }
        #expect(withoutAddress[0] == withoutAddress[1])
        #expect(texts[0].contains("manufacturerData") && texts[0].contains("transmitPower"))
    }
}
