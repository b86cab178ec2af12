import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import Dispatch
import Testing

@Suite("World")
struct WorldTests {
    /// A server and a client some metres apart.
    static func echo(seed: UInt64, loss: Double = 0, count: Int = 20) -> (World, EchoServer, EchoClient) {
        let world = World(seed: seed, conditions: .init(loss: loss))
        let server = EchoServer(on: world.machine("server", at: .init(x: 2)))
        let client = EchoClient(on: world.machine("client"), count: count)
        client.companion = server
        return (world, server, client)
    }

    @Test(
        "Every value arrives once and in order, however lossy the air",
        arguments: UInt64(0)..<16,
        [0, 0.3, 0.5]
    )
    func delivers(seed: UInt64, loss: Double) async {
        let (world, server, client) = Self.echo(seed: seed, loss: loss)
        await world.advance(by: .seconds(60))
        #expect(server.written == (0..<20).map(EchoClient.value))
        #expect(client.isComplete)
    }

    @Test("The same seed gives the same run, and another seed another")
    func deterministic() async {
        func hash(_ seed: UInt64) async -> UInt64 {
            let (world, _, client) = Self.echo(seed: seed, loss: 0.3)
            await world.advance(by: .seconds(30))
            #expect(client.isComplete)
            return world.traceHash
        }
        let first = await hash(42), again = await hash(42), other = await hash(43)
        #expect(first == again)
        #expect(first != other)
    }

    @Test("The size of the steps in which time advances makes no difference")
    func stepwise() async {
        let (atOnce, _, one) = Self.echo(seed: 5, loss: 0.3), (stepwise, _, other) = Self.echo(seed: 5, loss: 0.3)
        await atOnce.advance(by: .seconds(20))
        for _ in 0..<200 { await stepwise.advance(by: .milliseconds(100)) }
        #expect(atOnce.now == .seconds(20))
        #expect(stepwise.now == .seconds(20))
        #expect(atOnce.traceHash == stepwise.traceHash)
        #expect(one.isComplete)
        #expect(other.isComplete)
    }

    @Test("Every packet between hosts and controllers can be observed, in chronological order")
    func observed() async {
        let (world, _, client) = Self.echo(seed: 1)
        let log = PacketLog()
        world.observe { log.append($0) }
        await world.advance(by: .seconds(10))
        #expect(client.isComplete)
        let records = log.records
        #expect(records.first?.bytes == [0x01, 0x03, 0x0C, 0x00])
        #expect(Set(records.map(\.machine)) == ["server", "client"])
        #expect(zip(records, records.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(records.contains { $0.direction == .toHost && $0.bytes.first == 0x04 })
    }

    @Test("A machine exists once per world, and worlds are separate")
    func machines() async {
        let world = World(seed: 1), other = World(seed: 1)
        let server = EchoServer(on: world.machine("server"))
        let near = EchoClient(on: world.machine("client"), count: 1)
        let elsewhere = EchoClient(on: other.machine("client"), count: 1)
        let neighbour = SeamApp()
        neighbour.start(.central, on: world.machine("client"))
        await world.advance(by: .seconds(10))
        await other.advance(by: .seconds(10))
        #expect(near.isComplete)
        #expect(elsewhere.peer == nil)
        #expect(server.written.count == 1)
        #expect(neighbour.events.contains { if case .systemLinks(let links) = $0 { links.count == 1 } else { false } })
    }

    @Test("A machine that leaves the range is disconnected, and reconnects when it returns")
    func walksAway() async {
        let world = World(seed: 3)
        let server = EchoServer(on: world.machine("server")), walker = world.machine("walker", at: .init(x: 1))
        let client = EchoClient(on: walker, count: 3, reconnects: true)
        await world.advance(by: .seconds(10))
        #expect(client.isComplete)
        #expect(server.subscribers.count == 1)
        walker.move(to: .init(x: 5_000))
        await world.advance(by: .seconds(10))
        #expect(server.subscribers.isEmpty)
        #expect(client.lostConnections == 1)
        #expect(client.connections == 1)
        walker.move(to: .init(x: 1))
        await world.advance(by: .seconds(10))
        #expect(client.connections == 2)
    }

    @Test("Separated machines do not receive each other until they are rejoined", arguments: [false, true])
    func apart(replugging: Bool) async {
        let world = World(seed: 3)
        let one = world.machine("one"), other = world.machine("other")
        world.separate(one, other)
        if replugging {
            other.unplugRadio()
            other.plugInRadio()
        }
        let server = EchoServer(on: one), client = EchoClient(on: other, count: 1)
        await world.advance(by: .seconds(10))
        #expect(client.peer == nil)
        world.rejoin(one, other)
        await world.advance(by: .seconds(10))
        #expect(client.peer != nil)
        #expect(server.states.last == .poweredOn)
    }

    @Test("Packet loss starts and ends with the conditions")
    func conditions() async {
        let (world, _, client) = Self.echo(seed: 9, loss: 1)
        await world.advance(by: .seconds(10))
        #expect(client.peer == nil)
        world.conditions.loss = 0
        await world.advance(by: .seconds(10))
        #expect(client.isComplete)
    }

    @Test("Placing a second device with the same name ends the test with the reason")
    func sameName() async {
        await #expect(processExitsWith: .failure) {
            let world = World(seed: 1)
            for _ in 0..<2 { world.place(SimulatedPeripheral(name: "Lamp", services: [])) }
        }
    }

    @Test("Running an app on a simulated peripheral ends the test with the reason")
    func device() async {
        await #expect(processExitsWith: .failure) {
            let world = World(seed: 1)
            world.place(SimulatedPeripheral(name: "phone", services: []))
            world.inhabit {}
        }
        await #expect(processExitsWith: .success) {
            let world = World(seed: 1)
            world.place(SimulatedPeripheral(name: "Lamp", services: []))
            world.inhabit {}
            world.place(SimulatedPeripheral(name: "phone", services: [])).inhabit {}
        }
    }
}
