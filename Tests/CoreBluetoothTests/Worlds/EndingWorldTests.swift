import BLERuntime
import BLESimulation
import BLEWire
import CoreBluetooth
import Testing

@Suite("Loss of a connection at every packet of an app's requests")
struct EndingWorldTests {
    /// Something that an app asks for, and what it hears then, once.
    struct Operation: Sendable {
        let answer: String
        let ask: @Sendable (CBPeripheral) -> Void

        init(_ answer: String, _ ask: @escaping @Sendable (CBPeripheral) -> Void) {
            self.answer = answer
            self.ask = ask
        }
    }

    /// What may happen to a connection.
    enum Ending: CaseIterable {
        case separated, cancelled, phoneUnplugged, sensorSwitchedOff
    }

    /// A further operation is a further line.
    static let operations = [
        Operation("services") { $0.discoverServices(nil) },
        Operation("included FFF0") { peripheral in
            for service in peripheral.services ?? [] { peripheral.discoverIncludedServices(nil, for: service) }
        },
        Operation("characteristics FFF0") { peripheral in
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        },
        Operation("descriptors FFF2") { peripheral in
            if let note = peripheral.characteristic("FFF2") { peripheral.discoverDescriptors(for: note) }
        },
        Operation("value FFF1") { peripheral in
            if let fixed = peripheral.characteristic("FFF1") { peripheral.readValue(for: fixed) }
        },
        Operation("written FFF2") { peripheral in
            guard let note = peripheral.characteristic("FFF2") else { return }
            peripheral.writeValue(Data(repeating: 1, count: 600), for: note, type: .withResponse)
        },
        Operation("notifying") { peripheral in
            if let stream = peripheral.characteristic("FFF3") { peripheral.setNotifyValue(true, for: stream) }
        },
        Operation("rssi") { $0.readRSSI() },
        Operation("channel") { $0.openL2CAPChannel(0x80) },
    ]

    /// Two machines, and an app that asks.
    private struct Bench {
        let world = World(seed: 3)
        let phone: Machine
        let sensor: Machine
        let app = CentralApp()
        let central: CBCentralManager
        let server: StreamServer

        init() {
            (phone, sensor) = (world.machine("phone"), world.machine("sensor", at: .init(x: 2)))
            central = phone.inhabit { [app] in CBCentralManager(delegate: app, queue: DispatchQueue(label: "phone")) }
            server = sensor.inhabit { StreamServer() }
        }

        func find() async -> CBPeripheral? {
            await world.advance(by: .seconds(1))
            central.scanForPeripherals(withServices: [StreamServer.service])
            await world.advance(by: .seconds(2))
            central.stopScan()
            _ = app.take()
            return app.peripherals.first
        }

        func connect() async -> CBPeripheral? {
            guard let peripheral = await find() else { return nil }
            central.connect(peripheral)
            await world.advance(by: .seconds(2))
            peripheral.discoverServices(nil)
            await world.advance(by: .seconds(1))
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
            await world.advance(by: .seconds(1))
            _ = app.take()
            return peripheral
        }

        func end(_ ending: Ending, _ peripheral: CBPeripheral) {
            switch ending {
            case .separated: world.separate(phone, sensor)
            case .cancelled: central.cancelPeripheralConnection(peripheral)
            case .phoneUnplugged: phone.unplugRadio()
            case .sensorSwitchedOff: sensor.switchBluetoothOff()
            }
        }

        /// How long after now packets pass between hosts and controllers in the next seconds: each time once.
        func packetTimes(_ seconds: Int) async -> [Duration] {
            let recorder = Recorder(), start = world.now
            world.observe { recorder.add($0.time - Instant() - start) }
            await world.advance(by: .seconds(seconds))
            return recorder.times
        }
    }

    /// The times of packets, each once.
    private final class Recorder: Sendable {
        private let all = Locked<[Duration]>([])
        var times: [Duration] { all.withLock(\.self) }
        func add(_ time: Duration) { all.withLock { if $0.last != time { $0.append(time) } } }
    }

    @Test("Every request of the app is answered once", arguments: Ending.allCases)
    func everyPacket(ending: Ending) async throws {
        let reference = Bench(), peer = try #require(await reference.connect())
        for operation in Self.operations { operation.ask(peer) }
        let times = await reference.packetTimes(1)
        let answers = reference.app.take()
        for operation in Self.operations { check(operation, answers, "without an end") }
        #expect(times.count > 12)
        for time in times {
            let bench = Bench(), peripheral = try #require(await bench.connect())
            for operation in Self.operations { operation.ask(peripheral) }
            await bench.world.advance(by: time)
            bench.end(ending, peripheral)
            await bench.world.advance(by: .seconds(8))
            let calls = bench.app.take()
            for operation in Self.operations { check(operation, calls, "\(time)") }
            #expect(peripheral.state == .disconnected)
        }
    }

    private func check(_ operation: Operation, _ calls: [String], _ place: String) {
        #expect(calls.count { $0.hasPrefix(operation.answer) } == 1, "\(operation.answer), \(place)")
    }

    @Test("A requested connection succeeds or fails, and ends once", arguments: Ending.allCases)
    func connecting(ending: Ending) async throws {
        let reference = Bench()
        reference.central.connect(try #require(await reference.find()))
        let times = await reference.packetTimes(1)
        #expect(times.count > 5)
        for time in times {
            let bench = Bench(), peripheral = try #require(await bench.find())
            bench.central.connect(peripheral)
            await bench.world.advance(by: time)
            bench.end(ending, peripheral)
            await bench.world.advance(by: .seconds(8))
            bench.central.cancelPeripheralConnection(peripheral)
            await bench.world.advance(by: .seconds(4))
            let calls = bench.app.take().compactMap { call in
                ["connected", "failed", "disconnected"].first { call.hasPrefix($0) }
            }
            // A radio that goes takes connections with it, of which the state of the manager tells.
            let allowed =
                ending == .phoneUnplugged
                ? [[], ["connected"]] : [["connected", "disconnected"], ["disconnected"], ["failed"]]
            #expect(allowed.contains(calls), "\(calls), \(time)")
            #expect(peripheral.state == .disconnected)
        }
    }
}
