import BLESimulation
import CoreBluetooth
import Testing

@Suite("Both roles on a simulated air")
struct BothRolesTests {
    /// A server and a client in a world of their own, a few metres apart.
    private struct Pair {
        let world: World
        let server: StreamServer
        let client: StreamClient
        let machines: (server: Machine, client: Machine)

        init(
            seed: UInt64,
            loss: Double = 0,
            stream: Int = 0,
            commands: Int = 0,
            options: [String: Any]? = nil
        ) {
            let world = World(seed: seed, conditions: .init(loss: loss))
            machines = (world.machine("server"), world.machine("client", at: .init(x: 3)))
            server = machines.server.inhabit { StreamServer(length: stream) }
            client = machines.client.inhabit { StreamClient(commands: commands, options: options) }
            self.world = world
        }
    }

    static let course = [
        "state 5", #"discovered Stream ["FFF0"]"#, "connected", #"services ["FFF0"] ok"#,
        #"characteristics ["FFF1", "FFF2", "FFF3"] ok"#, "read FFF1 100 ok", #"descriptors ["2901"] ok"#,
        "written FFF2 ok", "read FFF2 300 ok", "rssi true ok", "notifying true ok", "descriptor Note ok",
    ]

    @Test(
        "An app scans, connects, discovers, reads, writes and receives notifications, however lossy the air",
        arguments: UInt64(0)..<16
    )
    func course(seed: UInt64) async {
        let pair = Pair(seed: seed, loss: 0.3, stream: 50, commands: 50)
        await pair.world.advance(by: .seconds(30))
        #expect(Set(pair.client.log) == Set(Self.course))
        #expect(pair.client.log.prefix(5) == Self.course.prefix(5))
        #expect(pair.client.received == (0..<50).map(StreamServer.value))
        let commands = pair.server.received.filter { $0.count == 4 }
        #expect(commands == (0..<50).map(StreamServer.value))
        #expect(pair.server.received.contains(Data(repeating: 7, count: 300)))
        #expect(pair.server.log == ["state 5", "added ok", "advertising ok", "subscribed 1"])
    }

    @Test("Thousands of values arrive once and in order in both directions, while senders wait", arguments: [0.0, 0.2])
    func backPressure(loss: Double) async {
        let pair = Pair(seed: 3, loss: loss, stream: 2000, commands: 2000)
        await pair.world.advance(by: .seconds(100))
        #expect(pair.client.received == (0..<2000).map(StreamServer.value))
        #expect(pair.server.received.filter { $0.count == 4 } == (0..<2000).map(StreamServer.value))
        #expect(pair.server.waits > 10)
        #expect(pair.client.waits > 10)
    }

    @Test("Cancelling a connection during a stream ends it without an error, and it can be made again")
    func disconnect() async {
        let pair = Pair(seed: 5, stream: 100_000)
        await pair.world.advance(by: .seconds(4))
        let received = pair.client.received.count
        #expect(received > 100)
        guard let peripheral = pair.client.peripheral else { return #expect(Bool(false)) }
        let stream = pair.client.characteristic(StreamServer.stream)
        pair.client.manager.cancelPeripheralConnection(peripheral)
        #expect(peripheral.state == .disconnecting)
        await pair.world.advance(by: .seconds(5))
        #expect(pair.client.log.last == "disconnected ok")
        #expect(peripheral.services == nil)
        #expect(stream?.isNotifying == false)
        #expect(pair.server.log.last == "unsubscribed 0")
        let last = pair.client.received.count
        pair.client.manager.connect(peripheral)
        await pair.world.advance(by: .seconds(4))
        #expect(pair.server.log.last == "subscribed 1")
        #expect(pair.client.received.count > last + 100)
        #expect(pair.client.received.dropFirst(last).prefix(100) == ((0..<100).map(StreamServer.value))[...])
    }

    @Test("When the central's radio is lost, every request is answered, and then the state is unsupported")
    func centralLosesPower() async {
        let pair = Pair(seed: 6, stream: 1000)
        await pair.world.advance(by: .seconds(10))
        guard let peripheral = pair.client.peripheral, let note = pair.client.characteristic(StreamServer.note) else {
            return #expect(Bool(false))
        }
        for _ in 0..<100 { peripheral.writeValue(Data(repeating: 1, count: 400), for: note, type: .withResponse) }
        pair.machines.client.unplugRadio()
        await pair.world.advance(by: .seconds(5))
        let log = pair.client.log.drop { $0 != "descriptor Note ok" }.dropFirst()
        #expect(log.count { $0.hasPrefix("written FFF2") } == 100)
        #expect(log.suffix(2) == ["state 1", "state 2"])
        #expect(!log.contains { $0.hasPrefix("disconnected") })
        #expect(peripheral.state == .disconnected)
        #expect(pair.server.log.last == "unsubscribed 0")
        pair.machines.client.plugInRadio()
        await pair.world.advance(by: .seconds(20))
        #expect(pair.client.log.last == "descriptor Note ok")
        #expect(pair.client.peripheral !== peripheral)
    }

    @Test("When the peripheral's radio is lost, the central's connection times out")
    func peripheralLosesPower() async {
        let pair = Pair(seed: 7, stream: 1000)
        await pair.world.advance(by: .seconds(10))
        pair.machines.server.unplugRadio()
        await pair.world.advance(by: .seconds(10))
        #expect(pair.client.log.last == "disconnected CBError 6")
        #expect(pair.server.log.suffix(2) == ["state 1", "state 2"])
    }

    @Test("A peripheral that returns into range is reconnected automatically if the app requested it")
    func automaticReconnection() async {
        let pair = Pair(seed: 8, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await pair.world.advance(by: .seconds(10))
        pair.world.separate(pair.machines.server, pair.machines.client)
        await pair.world.advance(by: .seconds(30))
        #expect(pair.client.log.last == "disconnected CBError 6 reconnecting")
        #expect(pair.client.peripheral?.state == .connecting)
        pair.world.rejoin(pair.machines.server, pair.machines.client)
        await pair.world.advance(by: .seconds(60))
        #expect(pair.client.peripheral?.state == .connected)
        #expect(pair.client.log.count { $0 == "connected" } == 2)
    }

    @Test("Several centrals are served at the same time, and each is counted")
    func severalCentrals() async {
        let world = World(seed: 9)
        let server = world.machine("server").inhabit { StreamServer(length: 100) }
        await world.advance(by: .seconds(1))
        var clients: [StreamClient] = []
        for number in 1...3 {
            clients.append(world.machine("client \(number)", at: .init(x: Double(number))).inhabit { StreamClient() })
            await world.advance(by: .seconds(20))
        }
        #expect(server.log.filter { $0.hasPrefix("subscribed") } == ["subscribed 1", "subscribed 2", "subscribed 3"])
        for client in clients {
            #expect(client.received.suffix(100) == ((0..<100).map(StreamServer.value))[...])
        }
        for client in clients.dropLast() {
            if let peripheral = client.peripheral { client.manager.cancelPeripheralConnection(peripheral) }
        }
        await world.advance(by: .seconds(10))
        #expect(server.log.suffix(2) == ["unsubscribed 2", "unsubscribed 1"])
    }

    @Test("Releasing a manager ends its app's connection")
    func deallocation() async {
        let world = World(seed: 10)
        let server = world.machine("server").inhabit { StreamServer() }
        var client: StreamClient? = world.machine("client").inhabit { StreamClient() }
        await world.advance(by: .seconds(20))
        #expect(client?.peripheral?.state == .connected)
        client = nil
        await world.advance(by: .seconds(5))
        #expect(server.log.last == "unsubscribed 0")
    }

    @Test("The same seed gives the same run")
    func deterministic() async {
        func run(_ seed: UInt64) async -> UInt64 {
            let pair = Pair(seed: seed, loss: 0.2, stream: 200, commands: 200)
            await pair.world.advance(by: .seconds(20))
            return pair.world.traceHash
        }
        let first = await run(42), again = await run(42), other = await run(43)
        #expect(first == again)
        #expect(first != other)
    }
}
