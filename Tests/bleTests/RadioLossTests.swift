import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Loss of the radio during commands") @MainActor
struct RadioLossTests {
    private static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "write", "notify"], "value": "0x11",
           "notify": {"every": 3600000, "values": ["12"]}}]}]}
        """

    private let world: World
    private let phone: Machine
    private let sensor: Machine

    init() {
        world = World(seed: 7, conditions: .init(loss: 0.1))
        phone = world.machine("phone")
        sensor = world.machine("sensor", at: .init(x: 2))
    }

    /// Lets time pass until `work` is over, and gives what it threw.
    private func play(_ work: @escaping @MainActor () async throws -> Void) async throws -> CommandError? {
        var isOver = false
        let task = Task {
            defer { isOver = true }
            try await work()
        }
        for _ in 0..<240 where !isOver { await world.advance(by: .milliseconds(500)) }
        try #require(isOver)
        do {
            try await task.value
        } catch let trouble as CommandError {
            return trouble
        }
        return nil
    }

    private func makeLamp(report: @escaping (Fact) -> Void = { _ in }) throws -> DescribedPeripheral {
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        return sensor.inhabit { DescribedPeripheral(PeripheralDescription(device), report: report) }
    }

    private func reach(_ name: String, with central: Central) async throws -> CBPeripheral {
        try await central.powerOn()
        let peripheral = try await central.find(PeerReference(text: name), within: .seconds(60))
        try await central.connect(peripheral, within: .seconds(60))
        return peripheral
    }

    @Test("A radio must exist at the start, and may be lost and return any number of times")
    func watch() {
        var watch = RadioWatch()
        #expect(watch.overdue() == .missing(.unknown))
        let states: [CBManagerState] = [
            .unknown, .resetting, .poweredOn, .resetting, .unsupported, .resetting, .poweredOn, .poweredOff, .poweredOn,
        ]
        #expect(
            states.map { watch.changed(to: $0) }
                == [.nothing, .nothing, .appeared, .lost, .nothing, .nothing, .returned, .lost, .returned]
        )
        #expect(watch.overdue() == .nothing)
        var other = RadioWatch()
        #expect(other.changed(to: .unsupported) == .missing(.unsupported))
    }

    @Test("A controller behind a socket may appear after the command has started")
    func late() {
        var watch = RadioWatch(mayAppear: true)
        #expect(
            [.unsupported, .resetting, .unsupported].map { watch.changed(to: $0) } == [.nothing, .nothing, .nothing]
        )
        #expect(watch.overdue() == .missing(.unknown))
        #expect(watch.changed(to: .poweredOn) == .appeared)
        #expect(watch.changed(to: .unsupported) == .lost)
        var denied = RadioWatch(mayAppear: true)
        #expect(denied.changed(to: .unauthorized) == .missing(.unauthorized))
        let awaited = ["tcp:127.0.0.1:7001", "unix:/tmp/radio", "hci:0", "demo", "bled", "nonsense", nil]
        #expect(awaited.map { RadioWatch.mayAppear(host: $0) } == [true, true, false, false, false, false, false])
    }

    @Test(
        "Waiting for a response or value ends when the radio disappears or stops responding",
        arguments: [false, true]
    )
    func connection(isMute: Bool) async throws {
        let lamp = try makeLamp()
        let central = phone.inhabit { Central(clock: world.clock) }
        let trouble = try await play {
            let peripheral = try await reach("Lamp", with: central)
            _ = try await central.characteristic(CBUUID(string: "FFA1"), of: peripheral)
            if isMute {
                var faults = Machine.Faults()
                faults.isMute = true
                phone.cause(faults)
            } else {
                phone.unplugRadio()
            }
            let start = world.clock.now
            defer { #expect(start.duration(to: world.clock.now) < .seconds(10)) }
            try await central.wait(for: "Receiving values", needing: .connection(peripheral)) { _ in nil }
        }
        guard case .radioLost = trouble else {
            Issue.record("the trouble is \(String(describing: trouble))")
            return
        }
        lamp.stop()
    }

    @Test("A request that fails because the radio is lost is reported as such")
    func request() async throws {
        let lamp = try makeLamp()
        let central = phone.inhabit { Central(clock: world.clock) }
        let trouble = try await play {
            let peripheral = try await reach("Lamp", with: central)
            let found = try await central.characteristic(CBUUID(string: "FFA1"), of: peripheral)
            while true {
                _ = try await central.read(found, of: peripheral)
                phone.unplugRadio()
            }
        }
        guard case .radioLost = trouble else {
            Issue.record("the trouble is \(String(describing: trouble))")
            return
        }
        lamp.stop()
    }

    @Test("An interrupted process ends within two seconds")
    func farewell() async throws {
        let lamp = try makeLamp()
        let central = phone.inhabit { Central(clock: world.clock) }
        let trouble = try await play {
            let peripheral = try await reach("Lamp", with: central)
            var faults = Machine.Faults()
            faults.isMute = true
            phone.cause(faults)
            central.interrupt()
            let start = world.clock.now
            defer { #expect(start.duration(to: world.clock.now) <= .seconds(3)) }
            try await central.ask(peripheral, "Asking", {}) { _ in nil }
        }
        guard case .noAnswer = trouble else {
            Issue.record("the trouble is \(String(describing: trouble))")
            return
        }
        lamp.stop()
    }

    @Test("A peripheral is served again with its current values once the radio is back")
    func served() async throws {
        var facts: [String] = [], changes: [RadioChange] = []
        let lamp = try makeLamp { facts.append($0.event) }
        lamp.onRadioChange = { changes.append($0) }
        lamp.onError = { Issue.record("the trouble is \($0)") }
        let uuid = CBUUID(string: "FFA1")
        let trouble = try await play {
            let central = phone.inhabit { Central(clock: world.clock) }
            let peripheral = try await reach("Lamp", with: central)
            let found = try await central.characteristic(uuid, of: peripheral)
            try await central.write(Data([0x55]), to: found, of: peripheral)
        }
        #expect(trouble?.description == nil)
        sensor.unplugRadio()
        await world.advance(by: .seconds(3))
        #expect(changes == [.lost])
        #expect(lamp.setValue(Data([0x56]), of: uuid))
        sensor.plugInRadio()
        await world.advance(by: .seconds(3))
        #expect(changes == [.lost, .returned])
        #expect(facts.count { $0 == "advertising" } == 2)
        let again = phone.inhabit { Central(clock: world.clock) }
        var value: Data?
        let lastTrouble = try await play {
            let peripheral = try await reach("Lamp", with: again)
            value = try await again.read(try await again.characteristic(uuid, of: peripheral), of: peripheral)
        }
        #expect(lastTrouble?.description == nil)
        #expect(value == Data([0x56]))
        lamp.stop()
    }

    @Test("A radio lost while services are added and advertised is waited for", arguments: 0..<16)
    func start(step: Int) async throws {
        var facts: [String] = []
        let lamp = try makeLamp { facts.append($0.event) }
        lamp.onError = { Issue.record("the trouble is \($0)") }
        var events: [String] = []
        let room = sensor.inhabit { ChatHost(name: "Room") { events.append($0.fact(of: "Room").event) } }
        await world.advance(by: .milliseconds(step))
        sensor.unplugRadio()
        await world.advance(by: .milliseconds(500))
        sensor.plugInRadio()
        await world.advance(by: .seconds(5))
        #expect(facts.last == "advertising")
        #expect(events.last == "opened" && !events.contains("failed"))
        lamp.stop()
        room.close()
    }

    /// Takes the radio of the sensor for three seconds, by its plug or by its switch, and gives it back.
    private func interruptRadio(isSwitchedOff: Bool) async {
        if isSwitchedOff { sensor.switchBluetoothOff() } else { sensor.unplugRadio() }
        await world.advance(by: .seconds(3))
        if isSwitchedOff { sensor.switchBluetoothOn() } else { sensor.plugInRadio() }
        await world.advance(by: .seconds(3))
    }

    @Test("A chat room reopens when the radio is back, even if it was only switched off", arguments: [false, true])
    func room(isSwitchedOff: Bool) async throws {
        var events: [String] = []
        let room = sensor.inhabit { ChatHost(name: "Room") { events.append($0.fact(of: "Room").event) } }
        await world.advance(by: .seconds(1))
        for _ in 0..<2 { await interruptRadio(isSwitchedOff: isSwitchedOff) }
        let again = ["radio_lost", "radio_returned", "opened"]
        #expect(events == ["opened"] + again + again)
        room.close()
    }

    @Test("Channels are published again when the radio is back", arguments: [false, true])
    func channels(isSwitchedOff: Bool) async throws {
        var events: [String] = []
        let server = sensor.inhabit {
            ChannelServer(name: "Store") { event in
                switch event {
                case .published: events.append("published")
                case .advertising: events.append("advertising")
                case .radioChanged(let change): events.append("\(change)")
                case .opened, .failed: events.append("\(event)")
                }
            }
        }
        await world.advance(by: .seconds(1))
        await interruptRadio(isSwitchedOff: isSwitchedOff)
        #expect(events == ["published", "advertising", "lost", "returned", "published", "advertising"])
        server.close()
    }
}
