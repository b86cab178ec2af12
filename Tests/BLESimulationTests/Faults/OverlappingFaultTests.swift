import BLEHost
import BLESimulation
import BLEWire
import Testing

@Suite("Overlapping faults")
struct OverlappingFaultTests {
    /// Two faults, by when they strike and how long they last, in seconds, and when the later of their ends is.
    private static let spans = [
        (first: (5, 10), second: (10, 20), end: 30), (first: (5, 20), second: (10, 5), end: 25),
        (first: (5, 10), second: (5, 15), end: 20), (first: (5, 10), second: (5, 10), end: 15),
    ]

    private static func fault(_ kind: String, at time: Int, for duration: Int, of machine: String) -> World.Fault? {
        World.Fault("\(kind) \(duration * 1_000) ms at time \(time * 1_000) ms of \(machine)")
    }

    /// An app on a machine of a new world, in which these things go wrong.
    private func app(_ faults: [World.Fault?]) throws -> (World, Machine, SeamApp) {
        let world = World(seed: 1), machine = world.machine("machine"), app = SeamApp()
        world.plan(try faults.map { try #require($0) })
        app.start(.central, on: machine)
        return (world, machine, app)
    }

    @Test(
        "A machine recovers only when the last of several faults ends",
        arguments: spans.indices,
        [
            ("bluetoothOff", [.poweredOn, .poweredOff]), ("unplugged", [.poweredOn, .resetting, .unsupported]),
        ] as [(String, [HostState])]
    )
    func states(index: Int, kind: (String, [HostState])) async throws {
        let (first, second, end) = Self.spans[index]
        let (world, _, app) = try app([first, second].map { Self.fault(kind.0, at: $0.0, for: $0.1, of: "machine") })
        await world.advance(by: .seconds(end) - .nanoseconds(1))
        #expect(app.states == kind.1)
        await world.advance(by: .seconds(1))
        #expect(app.states == kind.1 + [.poweredOn])
    }

    @Test(
        "A link lost twice returns when both losses are over, at whichever ends they are",
        arguments: spans.indices,
        [("server", "server"), ("client", "server"), ("server", "client")]
    )
    func losses(index: Int, ends: (String, String)) async throws {
        let (first, second, end) = Self.spans[index]
        let (world, _, client) = echo()
        world.plan([
            try #require(Self.fault("linkLoss", at: first.0, for: first.1, of: ends.0)),
            try #require(Self.fault("linkLoss", at: second.0, for: second.1, of: ends.1)),
        ])
        await world.advance(by: .seconds(end) - .nanoseconds(1))
        #expect((client.connections, client.lostConnections) == (1, 1))
        await world.advance(by: .seconds(10))
        #expect((client.connections, client.lostConnections) == (2, 1))
    }

    /// A client and a server that are connected within five seconds.
    private func echo() -> (World, EchoServer, EchoClient) {
        let world = World(seed: 1), server = EchoServer(on: world.machine("server", at: .init(x: 2)))
        let client = EchoClient(on: world.machine("client"), count: 1, reconnects: true)
        client.companion = server
        return (world, server, client)
    }

    @Test("A machine with a replaced radio is not received before its link loss is over")
    func replugged() async throws {
        let (world, server, client) = echo(), sensor = world.machine("server")
        world.plan([try #require(Self.fault("linkLoss", at: 5, for: 25, of: "server"))])
        await world.advance(by: .seconds(12))
        sensor.unplugRadio()
        await world.advance(by: .seconds(2))
        sensor.plugInRadio()
        await world.advance(by: .seconds(16) - .nanoseconds(1))
        #expect(server.states.last == .poweredOn)
        #expect(client.connections == 1)
        await world.advance(by: .seconds(10))
        #expect(client.connections == 2)
    }

    @Test("A machine added during another's link loss does not receive it until that is over")
    func added() async throws {
        let world = World(seed: 1), server = EchoServer(on: world.machine("server", at: .init(x: 2)))
        world.plan([try #require(Self.fault("linkLoss", at: 5, for: 20, of: "server"))])
        await world.advance(by: .seconds(10))
        let client = EchoClient(on: world.machine("client"), count: 1)
        await world.advance(by: .seconds(15) - .nanoseconds(1))
        #expect(client.connections == 0)
        await world.advance(by: .seconds(10))
        #expect(client.isComplete && server.written.count == 1)
    }

    @Test("Machines rejoined during a link loss connect when it is over, and separated ones do not")
    func rejoined() async throws {
        let (world, _, client) = echo(), ends = ("server", "client")
        world.plan([try #require(Self.fault("linkLoss", at: 5, for: 15, of: "server"))])
        await world.advance(by: .seconds(10))
        #expect(client.connections == 1)
        world.separate(world.machine(ends.0), world.machine(ends.1))
        world.rejoin(world.machine(ends.1), world.machine(ends.0))
        await world.advance(by: .seconds(5))
        #expect(client.connections == 1)
        world.separate(world.machine(ends.0), world.machine(ends.1))
        await world.advance(by: .seconds(15))
        #expect(client.connections == 1)
        world.rejoin(world.machine(ends.1), world.machine(ends.0))
        await world.advance(by: .seconds(10))
        #expect(client.connections == 2)
    }

    @Test("A machine that restarts during faults stays in the state that they require")
    func restarted() async throws {
        let faults = [(5, 10), (10, 30)].map { Self.fault("bluetoothOff", at: $0.0, for: $0.1, of: "machine") }
        let (world, machine, _) = try app(faults), app = SeamApp()
        await world.advance(by: .seconds(12))
        machine.restart()
        app.start(.central, on: machine)
        await world.advance(by: .seconds(28) - .nanoseconds(1))
        #expect(app.states == [.poweredOff])
        await world.advance(by: .seconds(1))
        #expect(app.states == [.poweredOff, .poweredOn])
    }

    @Test("A radio that returns while Bluetooth is off stays off, whichever happened first")
    func mixed() async throws {
        let (world, _, app) = try app([
            Self.fault("bluetoothOff", at: 5, for: 20, of: "machine"),
            Self.fault("unplugged", at: 10, for: 5, of: "machine"),
            Self.fault("unplugged", at: 40, for: 10, of: "machine"),
            Self.fault("bluetoothOff", at: 45, for: 15, of: "machine"),
        ])
        await world.advance(by: .seconds(25) - .nanoseconds(1))
        #expect(app.states == [.poweredOn, .poweredOff, .resetting, .unsupported, .poweredOff])
        await world.advance(by: .seconds(16))
        #expect(app.states.suffix(2) == [.poweredOn, .resetting])
        await world.advance(by: .seconds(19))
        #expect(app.states.suffix(4) == [.poweredOn, .resetting, .unsupported, .poweredOff])
        await world.advance(by: .seconds(1))
        #expect(app.states.suffix(2) == [.poweredOff, .poweredOn])
    }

    @Test("A change that a test makes itself persists, whichever faults end")
    func byHand() async throws {
        let (world, machine, app) = try app(
            [(5, 5), (10, 10), (30, 10), (35, 15), (60, 5)].map {
                Self.fault("bluetoothOff", at: $0.0, for: $0.1, of: "machine")
            }
        )
        await world.advance(by: .seconds(12))
        machine.switchBluetoothOff()
        await world.advance(by: .seconds(13))
        #expect(app.states == [.poweredOn, .poweredOff])
        machine.switchBluetoothOn()
        await world.advance(by: .seconds(7))
        machine.switchBluetoothOn()
        await world.advance(by: .seconds(1))
        #expect(app.states.suffix(3) == [.poweredOn, .poweredOff, .poweredOn])
        await world.advance(by: .seconds(17) - .nanoseconds(1))
        #expect(app.states.last == .poweredOff)
        await world.advance(by: .seconds(6))
        #expect(app.states.last == .poweredOn)
        machine.switchBluetoothOff()
        await world.advance(by: .seconds(20))
        #expect(app.states.last == .poweredOff)
    }

    @Test("Bluetooth that the user switched off stays off when the radio returns, whichever faults end")
    func switchedOffByUser() async throws {
        let (world, machine, app) = try app([
            Self.fault("unplugged", at: 5, for: 10, of: "machine"),
            Self.fault("bluetoothOff", at: 8, for: 20, of: "machine"),
        ])
        await world.advance(by: .seconds(7))
        machine.switchBluetoothOff()
        await world.advance(by: .seconds(33))
        #expect(app.states == [.poweredOn, .resetting, .unsupported, .poweredOff])
        machine.switchBluetoothOn()
        await world.advance(by: .seconds(1))
        #expect(app.states.last == .poweredOn)
    }
}
