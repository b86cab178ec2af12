import BLERuntime
import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Serving a peripheral on the command line") @MainActor
struct ServingTests {
    private static let sensor = """
        {"name": "Sensor", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "notify"], "value": "0x0000"}]}]}
        """
    /// How often a value changes at one instant.
    private static let changes = 2_000

    @Test(
        "Values that change faster than they can be sent are skipped, except the last and those that must arrive",
        arguments: 0..<16 as Range<UInt64>
    )
    func flood(seed: UInt64) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.3))
        let phone = world.machine("phone"), machine = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.sensor.utf8))
        var isHeard = false, values: [Int] = [], connected: CBPeripheral?
        let sensor = machine.inhabit {
            DescribedPeripheral(PeripheralDescription(device)) { if $0.event == "subscribed" { isHeard = true } }
        }
        let central = phone.inhabit { Central(clock: world.clock) }
        central.onDelegateCall = {
            guard case .valueUpdated(let attribute, nil) = $0 else { return }
            values.append(((attribute as? CBCharacteristic)?.value ?? Data()).reduce(0) { $0 << 8 | Int($1) })
        }
        let work = Task {
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Sensor"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let found = try await central.characteristic(CBUUID(string: "FFA1"), of: peripheral)
            try await central.setNotify(true, for: found, of: peripheral)
            connected = peripheral
        }
        for _ in 0..<60 where !isHeard { await world.advance(by: .seconds(1)) }
        try #require(isHeard)
        let kept = Self.changes / 2
        let characteristic = try #require(sensor.characteristic(CharacteristicReference(CBUUID(string: "FFA1"))))
        for change in 1...Self.changes {
            guard change != kept else {
                sensor.change(characteristic, to: Data([UInt8(change >> 8), UInt8(change & 0xFF)]), mustArrive: true)
                continue
            }
            #expect(sensor.setValue(Data([UInt8(change >> 8), UInt8(change & 0xFF)]), of: CBUUID(string: "FFA1")))
        }
        var isSettled = false
        let settling = Task {
            await sensor.valuesSent()
            isSettled = true
        }
        await Task.yield()
        #expect(!isSettled)
        for _ in 0..<60 where !isSettled { await world.advance(by: .seconds(1)) }
        await world.advance(by: .seconds(10))
        try await work.value
        await settling.value
        #expect(connected?.state == .connected)
        #expect(values.last == Self.changes && values.contains(kept))
        #expect(values == values.sorted())
        #expect(values.count >= DescribedPeripheral.mostUnsent && values.count < Self.changes / 2)
        sensor.stop()
    }

    @Test("A UUID that several characteristics share names the first of them")
    func first() throws {
        let characteristics = (0..<8).map { _ in #"{"uuid": "FFA1", "properties": ["read"], "value": "00"}"# }
        let text =
            #"{"name": "Twins", "services": [{"uuid": "FFA0", "characteristics": ["#
            + characteristics.joined(separator: ", ") + "]}]}"
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(text.utf8))
        for seed in 0..<16 as Range<UInt64> {
            let twins = World(seed: seed).machine("twins").inhabit {
                DescribedPeripheral(PeripheralDescription(device)) { _ in }
            }
            #expect(twins.setValue(Data([1]), of: CBUUID(string: "FFA1")))
            let all = try #require(twins.published.first?.characteristics as? [CBMutableCharacteristic])
            #expect(all.map { twins.values[$0] } == [Data([1])] + Array(repeating: Data([0]), count: 7))
        }
    }

    private static let secret = """
        {"name": "Secret", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "PROPERTY"], "value": "00", "protected": true,
           "notify": {"every": 86400000, "values": ["ff"]}}]}]}
        """

    @Test(
        "A paired central receives values whose subscription requires encryption",
        arguments: 0..<16 as Range<UInt64>
    )
    func secret(seed: UInt64) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        let text = Self.secret.replacing("PROPERTY", with: seed % 2 == 0 ? "notify" : "indicate")
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(text.utf8))
        var isSubscribed = false, values: [Data] = []
        let served = world.machine("device").inhabit {
            DescribedPeripheral(PeripheralDescription(device)) { if $0.event == "subscribed" { isSubscribed = true } }
        }
        let central = world.machine("phone").inhabit { Central(clock: world.clock) }
        central.onDelegateCall = {
            guard case .valueUpdated(let attribute, nil) = $0 else { return }
            values.append((attribute as? CBCharacteristic)?.value ?? Data())
        }
        var kept: CBPeripheral?
        let work = Task {
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Secret"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let found = try await central.characteristic(CBUUID(string: "FFA1"), of: peripheral)
            try await central.setNotify(true, for: found, of: peripheral)
            kept = peripheral
        }
        for _ in 0..<120 where !isSubscribed || kept == nil { await world.advance(by: .seconds(1)) }
        try await work.value
        #expect(served.setValue(Data([1]), of: CBUUID(string: "FFA1")))
        for _ in 0..<60 where values.isEmpty { await world.advance(by: .seconds(1)) }
        #expect(values == [Data([1])])
        withExtendedLifetime(kept) {}
        served.stop()
    }

    @Test("A device on its own radio also has its name in the GAP service", .timeLimit(.minutes(30)))
    func deviceName() async {
        await #expect(processExitsWith: .success) {
            let radio = RadioServer(seed: 1)
            let ports = try (0..<2).map { _ in try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)) }
            try await Self.compareNames(ports)
            radio.stop()
        }
    }

    /// Returns when a device that advertises another name than it was given is known by the one that it was given.
    private static func compareNames(_ ports: [UInt16]) async throws {
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(sensor.utf8))
        DefaultLink.name(hosts: "Lamp")
        let served = try Bluetooth.$link.withValue(DefaultLink.link(to: HostSpecification("tcp:127.0.0.1:\(ports[0])")))
        {
            DescribedPeripheral(PeripheralDescription(device)) { _ in }
        }
        let central = try Bluetooth.$link.withValue(
            DefaultLink.link(to: HostSpecification("tcp:127.0.0.1:\(ports[1])"))
        ) {
            Central()
        }
        try await central.powerOn()
        let peripheral = try await central.find(PeerReference(text: "Sensor"), within: .seconds(600))
        try await central.connect(peripheral, within: .seconds(600))
        try await central.discover(peripheral, descriptors: false, incomplete: { _ in })
        while peripheral.name != "Lamp" { await Task.yield() }
        served.stop()
    }

    nonisolated static let lines: [(line: String, meaning: ServeLine?)] = [
        ("2A19 0x32", .change(CBUUID(string: "2A19"), to: "0x32")),
        ("0x2A19 on", .change(CBUUID(string: "2A19"), to: "on")),
        ("Battery Level 0x32", .change(CBUUID(string: "2A19"), to: "0x32")),
        ("battery level two words", .change(CBUUID(string: "2A19"), to: "two words")),
        ("Battery Level Status 00", .change(CBUUID(string: "2BED"), to: "00")),
        ("remove Battery Service", .remove(CBUUID(string: "180F"))), ("remove 0x180F", .remove(CBUUID(string: "180F"))),
        ("remove Battery Level", nil), ("add my file.json", .add(path: "my file.json")),
        ("pair 123456", .answer("123456")),
        ("2A19", nil), ("2A19 ", nil), ("", nil), ("yes", nil), ("123456", nil), ("pair", nil), ("hello there", nil),
    ]

    @Test("A line of standard input names a characteristic by its UUID or its name", arguments: lines)
    func line(_ line: String, meaning: ServeLine?) {
        #expect(ServeLine(line) == meaning)
    }

    @Test(
        "A service that cannot be published is refused, and the others are still served",
        arguments: 0..<16 as Range<UInt64>
    )
    func refusal(seed: UInt64) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.3))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.sensor.utf8))
        var happened: [String] = [], trouble: CommandError?
        let sensor = world.machine("sensor").inhabit {
            DescribedPeripheral(PeripheralDescription(device)) { happened.append($0.event) }
        }
        sensor.onError = { trouble = $0 }
        await world.advance(by: .seconds(1))
        // The second has a declaration for a characteristic, which no peer could make sense of.
        for characteristic in ["FFB1", "2803", "FFB2"] {
            let service =
                #"{"uuid": "FFB0", "characteristics": [{"uuid": "\#(characteristic)", "properties": ["read"]}]}"#
            let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path
            try Data(service.utf8).write(to: URL(filePath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(try sensor.add(path: path).isEmpty)
            await world.advance(by: .seconds(1))
        }
        #expect(happened == ["advertising", "service_added", "service_refused", "service_added"])
        #expect(trouble.map { "\($0)" } == nil)
        #expect(sensor.setValue(Data([1]), of: CBUUID(string: "FFA1")))
        #expect(sensor.setValue(Data([1]), of: CBUUID(string: "FFB1")))
        #expect(sensor.setValue(Data([1]), of: CBUUID(string: "FFB2")))
        #expect(!sensor.setValue(Data([1]), of: CBUUID(string: "2803")))
        sensor.stop()
    }

    @Test("Standard input is read only when a line is needed")
    func input() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            dup2(ends[0], 0)
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            let line = [UInt8]("2A19 0x32\n".utf8)
            func fill() -> Int {
                var count = 0
                while write(ends[1], line, line.count) > 0 { count += 1 }
                return count
            }
            let lines = fill()
            let first = await StandardInput.line()
            precondition(first == "2A19 0x32", "the first line is \(first ?? "missing")")
            let more = fill()
            precondition(more < lines / 2, "\(more) lines were read instead of one")
        }
    }
}
