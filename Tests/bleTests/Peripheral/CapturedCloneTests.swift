import ArgumentParser
import BLEExplain
import BLESimulation
import BLEWire
import CoreBluetooth
import Testing

@testable import ble

@Suite("Cloning a device from a capture", .timeLimit(.minutes(30))) @MainActor
struct CapturedCloneTests {
    private static let original: SimulatedPeripheral = {
        var device = SimulatedPeripheral(
            name: "Scale",
            services: [
                .init("FFC0", [.init("FFC1", [.read], value: [0x33])], isPrimary: false),
                .init(
                    "FFA0",
                    [
                        .init("FFA1", [.read, .notify], value: [1, 0xAB], descriptors: [.init(text: "Weight")]),
                        .init("FFA2", [.writeWithoutResponse, .write], descriptors: [.init("2908", value: [1, 2])]),
                        .init("12345678-0000-4000-8000-00805F9B34FB", [.read], value: [UInt8](repeating: 7, count: 90)),
                        .init("FFA3", [.read, .indicate], value: [5], isProtected: true),
                    ],
                    includes: ["FFC0"]
                ),
                .init("FFB0", [], isAdvertised: false),
            ]
        )
        device.manufacturerData = [0xFF, 0xFF, 1]
        device.mtu = 23
        device.address = try? .init("00:1A:7D:DA:71:13", .public)
        return device
    }()

    /// Discovers and reads everything of a device in a world, and returns the path of the capture.
    private static func capture(seed: UInt64, _ place: (World) -> DescribedPeripheral?) async throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/clone-\(UUID()).pcapng"
        let world = try World(seed: seed, conditions: .init(loss: 0.1), capture: path)
        let served = place(world)
        let central = world.machine("phone").inhabit { Central(clock: world.clock) }
        var isDone = false
        let work = Task {
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Scale"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let services = try await central.discover(peripheral, descriptors: true, incomplete: { _ in })
            var device = ClonedDevice("Scale", seenAs: central.found)
            for service in ClonedDevice.inOrder(services) {
                try await device.add(service, of: peripheral, central, Printer(json: true) { _ in })
            }
            isDone = true
        }
        #expect(await world.advance(atMost: .seconds(120)) { isDone })
        try await work.value
        served?.stop()
        return path
    }

    @Test(
        "A device, its clone in a world, and its clone that is served have the same attribute table",
        arguments: 0..<16 as Range<UInt64>
    )
    func table(seed: UInt64) async throws {
        var paths: [String] = []
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        paths.append(
            try await Self.capture(seed: seed) { world in
                world.place(Self.original)
                return nil
            }
        )
        let captured = try await CapturedDevices(path: paths[0]).device(at: nil), clone = ClonedDevice(captured)
        let copy = try #require(try Scenario(json: Data(clone.text.utf8)).peripherals.first)
        #expect(copy == Self.original)
        #expect(clone.remarks.isEmpty, "\(clone.remarks)")
        paths.append(
            try await Self.capture(seed: seed + 100) { world in
                world.place(copy)
                return nil
            }
        )
        paths.append(
            try await Self.capture(seed: seed + 200) { world in
                world.machine("device").inhabit {
                    DescribedPeripheral(PeripheralDescription(copy), clock: world.clock) { _ in }
                }
            }
        )
        #expect(captured.services.map(\.uuid).contains(.short(0xFFA0)) && captured.services.count >= 4)
        for path in paths.dropFirst() {
            let again = try await CapturedDevices(path: path).device(at: nil)
            #expect(again.services.filter(Self.isOwn) == captured.services.filter(Self.isOwn))
            #expect(again.advertisement == captured.advertisement)
        }
    }

    /// Returns true for a service that the description contains, and not the host.
    private static func isOwn(_ service: CapturedDevice.Service) -> Bool {
        ![.short(0x1800), .short(0x1801)].contains(service.uuid)
    }

    @Test("A device that answers writes and notifies is cloned with both, in worlds and when served")
    func answers() async throws {
        var texts: [String] = []
        let device = """
            {"name": "Scale", "services": [{"uuid": "FFA0", "characteristics": [
              {"uuid": "FFA1", "properties": ["notify"], "notify": {"every": 2000, "values": ["01", "0203"]}},
              {"uuid": "FFA2", "properties": ["write"],
               "answers": [{"to": "0a", "uuid": "FFA3", "value": "0aff", "after": 20},
                           {"to": "0b", "uuid": "FFA3", "value": "0bff", "after": 20}]},
              {"uuid": "FFA3", "properties": ["indicate"]}]}]}
            """
        texts.append(device)
        for isServed in [false, true] {
            let path = FileManager.default.temporaryDirectory.path + "/clone-\(UUID()).pcapng"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let world = try World(seed: 7, capture: path)
            let copy = try #require(try Scenario(json: Data(texts[0].utf8)).peripherals.first)
            var served: DescribedPeripheral?
            if isServed {
                served = world.machine("device").inhabit {
                    DescribedPeripheral(PeripheralDescription(copy), clock: world.clock) { _ in }
                }
            } else {
                world.place(copy)
            }
            try await Self.use(world)
            served?.stop()
            let captured = try await CapturedDevices(path: path).device(at: nil)
            let characteristics = try #require(captured.services.first { $0.uuid == .short(0xFFA0) }).characteristics
            let answers = characteristics[1].answers
            #expect(answers.map(\.written) == [[0x0A], [0x0B]])
            #expect(answers.map(\.value) == [[0x0A, 0xFF], [0x0B, 0xFF]])
            #expect(answers.allSatisfy { $0.characteristic == .short(0xFFA3) })
            #expect(characteristics[2].notifications == nil)
            guard !isServed else { continue }
            #expect(characteristics[0].notifications?.values == [[1], [2, 3]])
            #expect(1_900...2_100 ~= (characteristics[0].notifications?.interval ?? 0))
            texts[0] = ClonedDevice(captured).text
        }
    }

    /// Subscribes to everything, waits for values, and writes two commands twice, several seconds apart.
    private static func use(_ world: World) async throws {
        let central = world.machine("phone").inhabit { Central(clock: world.clock) }
        var answered = 0, isReady = false, peripheral: CBPeripheral?, target: CBCharacteristic?
        central.onDelegateCall = {
            guard case .valueUpdated(let attribute, nil) = $0, let value = (attribute as? CBCharacteristic)?.value
            else { return }
            if value.last == 0xFF { answered += 1 }
        }
        let work = Task {
            try await central.powerOn()
            let found = try await central.find(PeerReference(text: "Scale"), within: .seconds(60))
            try await central.connect(found, within: .seconds(60))
            target = try await central.characteristic(CBUUID(string: "FFA2"), of: found)
            for uuid in ["FFA1", "FFA3"] {
                let characteristic = try await central.characteristic(CBUUID(string: uuid), of: found)
                try await central.setNotify(true, for: characteristic, of: found)
            }
            peripheral = found
            isReady = true
        }
        #expect(await world.advance(atMost: .seconds(120)) { isReady })
        try await work.value
        await world.advance(by: .seconds(9))
        let found = try #require(peripheral), command = try #require(target)
        for (index, value) in ([0x0A, 0x0B, 0x0A, 0x0B] as [UInt8]).enumerated() {
            found.writeValue(Data([value]), for: command, type: .withResponse)
            #expect(await world.advance(atMost: .seconds(120)) { answered > index })
            await world.advance(by: .seconds(3))
        }
    }

    @Test(
        "An argument is a capture if it is a path, has an extension of captures, or names a file",
        arguments: [
            ("./x", true), ("a.pcapng", true), ("btsnoop_hci.LOG", true), ("x.pklg", true), ("Heart Rate", false),
            ("Lamp 2.0", false), ("6F2B2E5C-0000-4000-8000-00805F9B34FB", false),
        ]
    )
    func kinds(argument: String, isCapture: Bool) {
        #expect(CapturedDevices.isCapture(argument) == isCapture)
    }

    @Test("A capture without discovery is refused, and so is --address without a capture")
    func refusals() async throws {
        try await MonitorTests.withCapture(MonitorTests.capture) { path in
            let devices = try await CapturedDevices(path: path)
            #expect(throws: CommandError.self) { try devices.device(at: nil) }
        }
        #expect(throws: (any Error).self) { try Clone.parse(["Lamp", "--address", "C0:11"]) }
        #expect(throws: Never.self) { try Clone.parse(["lamp.pcapng", "--address", "C0:11"]) }
    }
}
