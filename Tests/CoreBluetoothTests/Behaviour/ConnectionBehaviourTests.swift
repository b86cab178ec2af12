import BLEHost
import BLERuntime
import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of connections")
struct ConnectionBehaviourTests {
    private static var service: CBUUID { CBUUID(string: "FFF0") }

    @Test("A connection goes through its documented states", .behaviour("4.2.1", "1.2.17"), arguments: UInt64(0)..<16)
    func states(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1)
        await bench.publish(.dynamic())
        let peripheral = try #require(await bench.find())
        _ = bench.app.take()
        #expect(peripheral.state == .disconnected)
        bench.central.connect(peripheral)
        #expect(peripheral.state == .connecting)
        await bench.wait(10)
        #expect(bench.app.take() == ["connected 2", "name sensor"])
        bench.central.cancelPeripheralConnection(peripheral)
        #expect(peripheral.state == .disconnecting)
        await bench.wait(10)
        #expect(bench.app.take() == ["disconnected ok 0"])
        #expect(peripheral.state == .disconnected)
    }

    @Test(
        "A pending connection never times out, and can be cancelled",
        .behaviour("1.2.13", "1.2.14", "1.2.17", "4.2.2")
    )
    func pending() async throws {
        let bench = WorldBench()
        await bench.publish(.dynamic())
        let peripheral = try #require(await bench.find())
        bench.server.stopAdvertising()
        _ = bench.app.take()
        bench.central.connect(peripheral)
        await bench.wait(24 * 3600)
        #expect(bench.app.take().isEmpty)
        #expect(peripheral.state == .connecting)
        bench.central.cancelPeripheralConnection(peripheral)
        #expect(peripheral.state == .disconnected)
        await bench.wait()
        #expect(bench.app.take() == ["disconnected ok 0"])
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        await bench.wait(10)
        #expect(bench.app.take().isEmpty)
    }

    @Test(
        "An existing connection is reported immediately, unless it is cancelled first",
        .behaviour("1.2.26"),
        arguments: UInt64(0)..<16
    )
    func connectedAlready(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let peripheral = try #require(await bench.connect(.dynamic()))
        let services = peripheral.services
        var heard: [String] = []
        /// Does things on the queue of the app, and returns what that hears of them.
        func act(_ actions: () -> Void...) async -> [String] {
            bench.app.reactions = [
                (
                    "rssi",
                    {
                        _ = bench.app.take()
                        for action in actions { action() }
                        heard = bench.app.take()
                    }
                )
            ]
            peripheral.readRSSI()
            await bench.wait(5)
            #expect(heard.isEmpty)
            return bench.app.take()
        }
        let connect = { bench.central.connect(peripheral) }
        let cancel = { bench.central.cancelPeripheralConnection(peripheral) }
        let trace = bench.world.traceHash
        connect()
        await bench.world.advance(by: .zero)
        #expect(bench.app.take() == ["connected 2"])
        #expect(bench.world.traceHash == trace)
        #expect(await act(connect, connect) == ["connected 2"])
        #expect(peripheral.services == services)
        #expect(await act(connect, cancel, connect) == ["disconnected ok 1", "connected 2"])
        #expect(await act(connect, cancel) == ["disconnected ok 0"])
    }

    @Test("Cancelling twice or without a connection is not reported", .behaviour("1.2.21"))
    func cancelTwice() async throws {
        let bench = WorldBench()
        let peripheral = try #require(await bench.connect(.dynamic()))
        bench.central.cancelPeripheralConnection(peripheral)
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.app.take() == ["disconnected ok 0"])
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.app.take().isEmpty)
        bench.central.connect(peripheral)
        bench.central.connect(peripheral)
        await bench.wait()
        #expect(bench.app.take() == ["connected 2"])
    }

    @Test(
        "A connection requested during a disconnection starts once that is reported",
        .behaviour("4.2.7"),
        arguments: UInt64(0)..<16
    )
    func again(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let peripheral = try #require(await bench.connect(.dynamic()))
        bench.central.cancelPeripheralConnection(peripheral)
        bench.central.connect(peripheral)
        #expect(peripheral.state == .connecting)
        await bench.wait(5)
        #expect(bench.app.take() == ["disconnected ok 1", "connected 2"])
    }

    @Test(
        "Cancelling returns immediately and answers pending requests",
        .behaviour("1.2.18", "2.1.9"),
        arguments: UInt64(0)..<16
    )
    func underWay(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let peripheral = try #require(await bench.connect(.dynamic()))
        let found = try #require(peripheral.characteristic("2A37"))
        for _ in 0..<40 { peripheral.writeValue(Data([1]), for: found, type: .withResponse) }
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait(5)
        let calls = bench.app.take()
        #expect(calls.count { $0.hasPrefix("written") } == 40)
        #expect(calls.last == "disconnected ok 0")
        await bench.wait(40)
        #expect(bench.app.take().isEmpty)
    }

    @Test(
        "A connection belongs to one manager, and the link to all of them",
        .behaviour("1.2.7", "1.2.8", "1.2.15", "1.2.19", "4.2.6", "1.2.22", "4.7.2")
    )
    func shared() async throws {
        let bench = WorldBench(), other = bench.anotherCentral()
        await bench.wait()
        other.manager.registerForConnectionEvents(options: [.serviceUUIDs: [Self.service]])
        let peripheral = try #require(await bench.connect(.dynamic()))
        #expect(other.app.take() == ["state 5", "event 1"])
        #expect(other.manager.retrieveConnectedPeripherals(withServices: []).isEmpty)
        #expect(other.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFE0")]).isEmpty)
        let found = other.manager.retrieveConnectedPeripherals(withServices: [Self.service])
        let second = try #require(found.first)
        #expect(second === other.app.peripherals.first)
        #expect(second.identifier == peripheral.identifier)
        #expect((second.state, peripheral.state) == (.disconnected, .connected))
        other.manager.connect(second)
        await bench.world.advance(by: .milliseconds(1))
        #expect(other.app.take() == ["connected 2"])
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.app.take() == ["disconnected ok 0"])
        #expect((second.state, peripheral.state) == (.connected, .disconnected))
        second.discoverServices(nil)
        await bench.wait()
        #expect(other.app.take() == ["services ok"])
        other.manager.cancelPeripheralConnection(second)
        await bench.wait()
        #expect(other.app.take().sorted() == ["disconnected ok 0", "event 0"])
        other.manager.registerForConnectionEvents()
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(other.app.take().isEmpty)
    }

    @Test(
        "A peripheral is no longer connected when its disconnection is reported, whoever ended the link",
        .behaviour("1.2.7"),
        arguments: UInt64(0)..<16
    )
    func gone(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let peripheral = try #require(await bench.connect(.dynamic()))
        func connected() -> [CBPeripheral] { bench.central.retrieveConnectedPeripherals(withServices: [Self.service]) }
        var counts: [Int] = []
        bench.app.reactions = [("connected", { counts.append(connected().count) })]
        bench.app.reactions += [("disconnected", { counts.append(connected().count) })]
        #expect(connected() == [peripheral])
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.central.connect(peripheral)
        await bench.wait(5)
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(10)
        #expect(bench.app.take() == ["disconnected ok 0", "connected 2", "disconnected CBError 6 0"])
        #expect(counts == [0, 1, 0])
    }

    @Test(
        "A peripheral's services are known when it reconnects, whichever app discovered them",
        .behaviour("1.2.7", "1.2.22"),
        arguments: UInt64(0)..<16
    )
    func back(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed), other = bench.anotherCentral()
        let peripheral = try #require(await bench.connect(.dynamic()))
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        other.manager.registerForConnectionEvents(options: [.serviceUUIDs: [Self.service]])
        _ = other.app.take()
        bench.central.connect(peripheral)
        await bench.wait(5)
        let found = other.manager.retrieveConnectedPeripherals(withServices: [Self.service])
        #expect(found.map(\.identifier) == [peripheral.identifier])
        #expect(other.app.take() == ["event 1"])
    }

    @Test("Connection events match four services, and ignore a fifth", .behaviour("1.2.23"))
    func fiveServices() async throws {
        let bench = WorldBench(), first = bench.anotherCentral(), second = bench.anotherCentral()
        let others = ["FFE0", "FFE1", "FFE2", "FFE3"].map(CBUUID.init(string:))
        await bench.wait()
        first.manager.registerForConnectionEvents(options: [.serviceUUIDs: others + [Self.service]])
        second.manager.registerForConnectionEvents(options: [.serviceUUIDs: Array(others.dropLast()) + [Self.service]])
        #expect(await bench.connect(.dynamic()) != nil)
        #expect(first.app.take() == ["state 5"])
        #expect(second.app.take() == ["state 5", "event 1"])
    }

    @Test("A connection that cannot be made fails", .behaviour("1.2.16"))
    func fails() async {
        let bench = WorldBench()
        await bench.wait()
        _ = bench.app.take()
        // The machine does not know where this one is, as after it has met too many others since.
        let forgotten = bench.central.peripheral(PeerIdentifier(rawValue: 1), name: nil)
        bench.central.connect(forgotten)
        #expect(forgotten.state == .connecting)
        await bench.wait()
        #expect(bench.app.take() == ["failed CBError 12"])
        #expect(forgotten.state == .disconnected)
    }

    @Test("A delay passes before the first attempt", .behaviour("1.2.24"))
    func delay() async throws {
        let bench = WorldBench()
        await bench.publish(.dynamic())
        let peripheral = try #require(await bench.find())
        _ = bench.app.take()
        bench.central.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: 30])
        await bench.wait(29)
        #expect(bench.app.take().isEmpty)
        await bench.wait(5)
        #expect(bench.app.take() == ["connected 2", "name sensor"])
    }

    @Test("A lost link is reported as a timeout", .behaviour("4.2.3", "2.1.9"), arguments: UInt64(0)..<16)
    func lost(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let peripheral = try #require(await bench.connect(.dynamic()))
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(bench.app.take() == ["disconnected CBError 6 0"])
        #expect(peripheral.state == .disconnected)
        #expect(peripheral.services == nil)
    }

    @Test("A link that the peer ends is reported as ended by the peer", .behaviour("4.2.3"))
    func endedByPeer() async throws {
        let bench = WorldBench(), characteristic = CBMutableCharacteristic.dynamic()
        let peripheral = try #require(await bench.connect(characteristic))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        let central = try #require(characteristic.subscribedCentrals?.first)
        _ = bench.app.take()
        bench.server.session.send(.server(.disconnect(central.peer)))
        await bench.wait(5)
        #expect(bench.app.take() == ["disconnected CBError 7 0"])
    }

    @Test(
        "A lost link is reconnected automatically until the app cancels",
        .behaviour("4.7.1", "4.2.4", "2.1.8", "2.1.11", "1.2.20"),
        arguments: UInt64(0)..<16
    )
    func reconnects(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let options = [CBConnectPeripheralOptionEnableAutoReconnect: true]
        let peripheral = try #require(await bench.connect(.dynamic(), options: options))
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(bench.app.take() == ["disconnected CBError 6 1 reconnecting"])
        #expect(peripheral.state == .connecting)
        bench.world.rejoin(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(bench.app.take() == ["connected 2"])
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(30)
        _ = bench.app.take()
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.app.take() == ["disconnected ok 0"])
        bench.world.rejoin(bench.phone, bench.sensor)
        await bench.wait(60)
        #expect(bench.app.take().isEmpty)
    }

    /// Apps with the older disconnection callback, alone and with the newer one.
    class Older: NSObject, CBCentralManagerDelegate {
        var calls: [String] = []
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            error: (any Error)?
        ) { calls.append("older \(brief(error)) \(peripheral.state.rawValue)") }
    }

    final class Both: Older {
        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            timestamp: CFAbsoluteTime,
            isReconnecting: Bool,
            error: (any Error)?
        ) { calls.append("newer") }
    }

    @Test(
        "The older disconnection callback takes precedence, and prevents automatic reconnection",
        .behaviour("2.1.10"),
        arguments: [false, true]
    )
    func olderCallback(hasBoth: Bool) async throws {
        let bench = WorldBench(), app = hasBoth ? Both() : Older()
        let options = [CBConnectPeripheralOptionEnableAutoReconnect: true]
        let peripheral = try #require(await bench.connect(.dynamic(), options: options))
        bench.central.delegate = app
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(30)
        bench.world.rejoin(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(app.calls == ["older CBError 6 0"])
        #expect(peripheral.state == .disconnected)
    }

    @Test("The latest options apply, pending or connected", .behaviour("1.2.28"), arguments: [false, true])
    func lastOptions(isPending: Bool) async throws {
        let bench = WorldBench()
        await bench.publish(.dynamic())
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        if !isPending { await bench.wait(5) }
        bench.central.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await bench.wait(5)
        _ = bench.app.take()
        bench.world.separate(bench.phone, bench.sensor)
        await bench.wait(30)
        #expect(bench.app.take() == ["disconnected CBError 6 1 reconnecting"])
    }

    @Test("The newer disconnection callback has the time of the loss", .behaviour("2.1.11"))
    func timestamp() async throws {
        final class Newer: NSObject, CBCentralManagerDelegate {
            var times: [CFAbsoluteTime] = []
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func centralManager(
                _ central: CBCentralManager,
                didDisconnectPeripheral peripheral: CBPeripheral,
                timestamp: CFAbsoluteTime,
                isReconnecting: Bool,
                error: (any Error)?
            ) { if !isReconnecting { times.append(timestamp) } }
        }
        let bench = WorldBench(), app = Newer(), before = Date().timeIntervalSinceReferenceDate
        let peripheral = try #require(await bench.connect(.dynamic()))
        bench.central.delegate = app
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        let after = Date().timeIntervalSinceReferenceDate
        #expect(app.times.count == 1)
        #expect(app.times.allSatisfy { (before...after).contains($0) })
    }

    @Test("ANCS is never available", .behaviour("1.6.4", "2.1.12", "4.7.3"))
    func noANCS() async throws {
        let bench = WorldBench(), options = [CBConnectPeripheralOptionRequiresANCS: true]
        let peripheral = try #require(await bench.connect(.dynamic(), options: options))
        #expect(!peripheral.ancsAuthorized)
        await bench.wait(60)
        #expect(bench.app.take().isEmpty)
    }
}
