import BLERuntime
import BLESimulation
import CoreBluetoothExtras
import Dispatch
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Sharing a radio through the daemon", .timeLimit(.minutes(30)))
struct SharingTests {
    private static var heartRate: CBUUID { CBUUID(string: "180D") }
    private static var measurement: CBUUID { CBUUID(string: "2A37") }

    private func find(_ name: String, by central: CBCentralManager) async throws -> CBPeripheral {
        try await central.poweredOn()
        for await discovery in central.discoveries() where discovery.peripheral.name == name {
            return discovery.peripheral
        }
        throw CBError(.unknown)
    }

    private func connect(to name: String, by central: CBCentralManager) async throws -> CBPeripheral {
        let peripheral = try await find(name, by: central)
        try await central.connect(peripheral, timeout: .seconds(30))
        return peripheral
    }

    private func firstValue(of uuid: CBUUID, in service: CBUUID, of peripheral: CBPeripheral) async throws -> Data {
        let services = try await peripheral.findServices([service])
        let characteristics = try await peripheral.findCharacteristics([uuid], of: try #require(services.first))
        let characteristic = try #require(characteristics.first)
        if characteristic.properties.contains(.read) { return try await peripheral.value(of: characteristic) }
        for try await value in peripheral.values(of: characteristic) { return value }
        throw CBError(.unknown)
    }

    @Test("Two apps find, connect to and use the same device at the same time, and each ends its own use")
    func sharedLink() async throws {
        let bench = try DaemonBench(), one = bench.central(), other = bench.central()
        let mine = try await connect(to: "Heart Rate", by: one), theirs = try await connect(to: "Heart Rate", by: other)
        #expect(mine.identifier == theirs.identifier)
        #expect(try await firstValue(of: Self.measurement, in: Self.heartRate, of: mine).isEmpty == false)
        let level = try await firstValue(of: CBUUID(string: "2A19"), in: CBUUID(string: "180F"), of: theirs)
        #expect(level.count == 1)
        try await one.disconnect(mine)
        #expect(mine.state == .disconnected)
        #expect(theirs.state == .connected)
        #expect(try await firstValue(of: Self.measurement, in: Self.heartRate, of: theirs).isEmpty == false)
    }

    @Test("Ten apps subscribed to one characteristic receive all of its values in order")
    func fanOut() async throws {
        let values = (0..<200).map { [UInt8($0)] }
        let fast = SimulatedPeripheral.Notifications(every: .milliseconds(4), values)
        let device = SimulatedPeripheral(
            name: "Counter",
            services: [.init("180D", [.init("2A37", [.notify], notifies: fast)])]
        )
        let bench = try DaemonBench(Scenario(peripherals: [device])), path = bench.path
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<10 {
                group.addTask {
                    let central = DaemonBench.central(at: path)
                    let peripheral = try await connect(to: "Counter", by: central)
                    let services = try await peripheral.findServices([Self.heartRate])
                    let service = try #require(services.first)
                    let characteristics = try await peripheral.findCharacteristics([Self.measurement], of: service)
                    var heard: [UInt8] = []
                    for try await value in peripheral.values(of: try #require(characteristics.first)) {
                        heard += value
                        if heard.count == 400 { break }
                    }
                    return heard
                }
            }
            for try await heard in group {
                #expect(heard.count == 400)
                #expect(zip(heard, heard.dropFirst()).allSatisfy { Int($1) == (Int($0) + 1) % 200 })
            }
        }
        try await waiting { try bench.current.connectionCount == 0 }
    }

    @Test("Apps see the host reset when the daemon ends, and continue with the next one")
    func restart() async throws {
        let bench = try DaemonBench(), central = bench.central()
        let before = try await connect(to: "Lamp", by: central).identifier
        bench.stop()
        await central.reach(.resetting)
        try bench.start()
        await central.reach(.poweredOn)
        let lamp = try await connect(to: "Lamp", by: central)
        #expect(lamp.identifier == before)
    }

    /// The states of a manager from one that is on to one that is `last` after the daemon has gone.
    private func states(
        of central: CBCentralManager,
        until last: CBManagerState,
        _ change: () async throws -> Void
    ) async throws -> [CBManagerState] {
        let seen = Locked<[CBManagerState]>([]), states = central.states
        await central.reach(.poweredOn)
        let task = Task {
            for await state in states {
                let all = seen.withLock { all in
                    if all.last != state { all.append(state) }
                    return all
                }
                if state == last, all.count > 1 { return }
            }
        }
        try await change()
        await task.value
        return seen.withLock { $0 }
    }

    @Test("While a lost daemon is expected back, an app sees only the state resetting")
    func expectedBack() async throws {
        let bench = try DaemonBench(), central = bench.central()
        await central.reach(.poweredOn)
        let seen = try await states(of: central, until: .poweredOn) {
            bench.stop()
            await central.reach(.resetting)
            // A socket that ends each connection at once stands in for a daemon that does not come up.
            unlink(bench.path)
            let loop = EventLoop("test"), count = Locked(0)
            loop.start()
            var listener: SocketListener? = try SocketListener(at: .unix(path: bench.path), on: loop) { _ in
                count.withLock { $0 += 1 }
            }
            try await waiting { count.withLock { $0 } >= 6 }
            listener = nil
            _ = listener
            unlink(bench.path)
            try bench.start()
        }
        #expect(seen == [.poweredOn, .resetting, .poweredOn])
    }

    @Test("An app sees Bluetooth as unavailable if the daemon does not return in time")
    func staysAway() async throws {
        let bench = try DaemonBench()
        let link = DaemonLink(to: bench.path, expectedBackWithin: .milliseconds(50))
        let central = Bluetooth.$link.withValue(link) {
            CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        }
        await central.reach(.poweredOn)
        let seen = try await states(of: central, until: .unsupported) { bench.stop() }
        #expect(seen == [.poweredOn, .resetting, .unsupported])
    }

    @Test("An app that starts before the daemon can use Bluetooth as soon as the daemon runs")
    func late() async throws {
        let bench = try DaemonBench()
        bench.stop()
        let central = bench.central()
        await central.reach(.unsupported)
        try bench.start()
        await central.reach(.poweredOn)
    }

    @Test("Releasing a manager ends its session")
    func leaving() async throws {
        let bench = try DaemonBench()
        try await bench.central().poweredOn()
        try await waiting { try bench.current.connectionCount == 0 }
    }

    @Test("An app that selects a missing radio sees the state unsupported")
    func radios() async throws {
        let bench = try DaemonBench()
        await bench.central(radio: "hci:7").reach(.unsupported)
        await bench.central(radio: "world").reach(.poweredOn)
    }
}
