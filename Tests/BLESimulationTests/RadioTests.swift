import BLEHost
import BLESimulation
import BLEWire
import Testing

@Suite("A machine's radio")
struct RadioTests {
    @Test("An app learns that the radio is gone, and that it is back")
    func unplugged() async {
        let world = World(seed: 1)
        let machine = world.machine("phone")
        let app = SeamApp()
        app.start(.central, on: machine)
        await world.advance(by: .seconds(1))
        #expect(app.states.last == .poweredOn)
        machine.unplugRadio()
        await world.advance(by: .milliseconds(500))
        #expect(app.states.last == .resetting)
        await world.advance(by: .seconds(1))
        #expect(app.states.last == .unsupported)
        machine.plugInRadio()
        await world.advance(by: .seconds(1))
        #expect(app.states.last == .poweredOn)
    }

    @Test("A controller that stops responding is reset until it responds again")
    func mute() async {
        let world = World(seed: 1)
        let machine = world.machine("phone")
        let app = SeamApp()
        app.start(.central, on: machine)
        await world.advance(by: .seconds(1))
        var faults = Machine.Faults()
        faults.isMute = true
        machine.cause(faults)
        app.send(.scan(ScanRequest()))
        await world.advance(by: .seconds(60))
        #expect(app.states.last != .poweredOn)
        machine.cause(Machine.Faults())
        await world.advance(by: .seconds(60))
        #expect(app.states.last == .poweredOn)
    }

    /// How many events each side hears in a run without trouble.
    static let steps = 24

    @Test("Whenever the client's radio disappears, every request is answered once", arguments: 1...steps)
    func clientVanishes(step: Int) async {
        let (world, _, client) = WorldTests.echo(seed: 11, count: 4)
        let radio = world.machine("client")
        client.afterEvent = { [unowned client] in if client.events.count == step { radio.unplugRadio() } }
        await world.advance(by: .seconds(60))
        #expect(RequestLedger(client).unanswered.isEmpty)
        #expect(RequestLedger(client).unasked.isEmpty)
        if client.events.count > step { #expect(client.states.contains(.unsupported)) }
    }

    @Test("Whenever the server's radio disappears, every request is answered once", arguments: 1...steps)
    func serverVanishes(step: Int) async {
        let (world, server, client) = WorldTests.echo(seed: 12, count: 4)
        let radio = world.machine("server")
        client.afterEvent = { [unowned client] in if client.events.count == step { radio.unplugRadio() } }
        await world.advance(by: .seconds(60))
        world.machine("client").unplugRadio()
        await world.advance(by: .seconds(60))
        #expect(RequestLedger(client).unanswered.isEmpty)
        #expect(RequestLedger(client).unasked.isEmpty)
        #expect(RequestLedger(server).unanswered.isEmpty)
        #expect(server.subscribers.isEmpty || client.isComplete)
    }

    @Test("Whenever a controller begins to lose events, every request is answered once", arguments: UInt64(0)..<16)
    func forgets(seed: UInt64) async {
        let (world, server, client) = WorldTests.echo(seed: seed, count: 8)
        var faults = Machine.Faults()
        faults.forgottenEvents = 0.1
        world.machine("client").cause(faults)
        await world.advance(by: .seconds(60))
        world.machine("client").unplugRadio()
        world.machine("server").unplugRadio()
        await world.advance(by: .seconds(60))
        #expect(RequestLedger(client).unanswered.isEmpty)
        #expect(RequestLedger(server).unanswered.isEmpty)
    }
}
