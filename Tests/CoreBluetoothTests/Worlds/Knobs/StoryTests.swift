import BLERuntime
import BLESimulation
import CoreBluetooth
import Testing

@Suite("World story", .timeLimit(.minutes(30)))
struct StoryTests {
    @Test("The story has the seed, the time, the apps' calls and callbacks, and the last packets")
    func story() async throws {
        let bench = KnobBench(seed: 42)
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait()
        lamp.switchBluetoothOff()
        await bench.wait(10)
        let story = bench.world.story
        for part in [
            "seed 42", "requests: connect", "receives: didConnect", "receives: didUpdateValue", "ATT Read Request",
        ] {
            #expect(story.contains(part), "\(story)")
        }
        #expect(story.split(separator: "\n").allSatisfy { $0.count < 260 })
    }

    @Test("Calls and callbacks are described with Core Bluetooth's terms and names")
    func terms() async throws {
        let bench = KnobBench(seed: 3)
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait()
        let story = bench.world.story, lamp = "\(peripheral.identifier.uuidString) (Lamp)"
        for line in ["requests: connect \(lamp)", "receives: didConnect \(lamp)", "requests: readValue \(lamp) FFE1"] {
            #expect(story.contains(line), "\(story)")
        }
        #expect(story.contains("receives: didUpdateState poweredOn"))
    }

    @Test("Two runs with one seed have the same story", arguments: UInt64(0)..<4)
    func repeated(seed: UInt64) async throws {
        var stories: [String] = []
        for _ in 0..<2 {
            let bench = KnobBench(seed: seed)
            bench.world.place(.lamp)
            let peripheral = try #require(await bench.connect())
            peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
            await bench.wait()
            stories.append(bench.world.story)
        }
        #expect(stories[0] == stories[1])
    }

    @Test("The story of a world without managers says so, and tells what to do")
    func nobody() async {
        let world = World(seed: 1)
        var lock = SimulatedPeripheral.lamp
        lock.name = "Lock"
        lock.pairing = .init(.display, passkey: 123_456)
        world.place(.lamp)
        world.place(lock)
        await world.advance(by: .seconds(1))
        #expect(world.story.contains("No app has created a Bluetooth manager in this world."))
        let central = world.inhabit { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "phone")) }
        await world.advance(by: .seconds(1))
        #expect(!world.story.contains("No app has created"))
        withExtendedLifetime(central) {}
    }

    @Test("A world captures its packets for Wireshark, with the apps' requests")
    func capture() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pcapng").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let world = try World(seed: 1, capture: path)
        world.place(.lamp)
        let app = CentralApp()
        let central = world.inhabit { CBCentralManager(delegate: app, queue: DispatchQueue(label: "phone")) }
        await world.advance(by: .seconds(1))
        central.scanForPeripherals(withServices: nil)
        await world.advance(by: .seconds(2))
        let octets = try Data(contentsOf: URL(filePath: path))
        #expect(octets.prefix(4) == Data([0x0A, 0x0D, 0x0D, 0x0A]))
        #expect(octets.count > 2_000)
        #expect(octets.firstRange(of: Data("requests: scan".utf8)) != nil)
    }

    @Test("The last thousand packets can be saved as a capture, unchanged")
    func lastPackets() async throws {
        let bench = KnobBench(), passed = Locked<[PacketRecord]>([])
        bench.world.observe { record in passed.withLock { $0.append(record) } }
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        for count in [40, 400] {
            for _ in 0..<count { peripheral.readValue(for: characteristic) }
            await bench.wait(60)
            var reader = CaptureReader(), kept: [PacketRecord] = []
            reader.append(bench.world.lastPackets)
            while let item = try reader.next() {
                if case .packet(let record) = item { kept.append(record) }
            }
            try reader.finish()
            let all = passed.withLock { $0 }
            #expect(kept.map(\.bytes) == all.suffix(1_000).map(\.bytes) && (count > 40) == (all.count > 1_000))
            #expect(kept.map(\.machine) == all.suffix(1_000).map(\.machine))
            #expect(kept.map(\.direction) == all.suffix(1_000).map(\.direction))
            #expect(kept.map(\.time) == all.suffix(1_000).map(\.time))
        }
    }

    /// Where Wireshark's program for terminals is, if it is there.
    private static let wireshark = ["/usr/bin/tshark", "/usr/local/bin/tshark"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test("Wireshark opens a world's capture with its comments", .enabled(if: wireshark != nil))
    func dissection() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pcapng").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let world = try World(seed: 1, capture: path)
        world.place(.lamp)
        let app = CentralApp()
        let central = world.inhabit { CBCentralManager(delegate: app, queue: DispatchQueue(label: "phone")) }
        await world.advance(by: .seconds(1))
        central.scanForPeripherals(withServices: nil)
        await world.advance(by: .seconds(2))
        central.connect(try #require(app.peripherals.first))
        await world.advance(by: .seconds(2))
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: try #require(Self.wireshark))
        process.arguments = ["-r", path, "-T", "fields", "-E", "separator=|"]
        process.arguments? += ["_ws.malformed", "btatt.opcode", "frame.comment"].flatMap { ["-e", $0] }
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let packets = text.split(separator: "\n").map { $0.split(separator: "|", omittingEmptySubsequences: false) }
        #expect(packets.count > 50)
        #expect(packets.allSatisfy { $0.count == 3 && $0[0].isEmpty }, "none is malformed")
        #expect(packets.contains { $0.count == 3 && !$0[1].isEmpty }, "attributes are taken apart")
        #expect(packets.contains { $0.count == 3 && $0[2].contains("requests: scan") })
    }

    @Test("A capture that cannot be created is refused with the reason")
    func noCapture() {
        let failure = #expect(throws: World.CaptureFailure.self) { try World(seed: 1, capture: "x.txt") }
        #expect(failure?.description.contains(".pcapng") == true)
    }
}
