import BLEHost
import BLESimulation
import BLEWire
import Testing

@Suite("Changing machines and their apps")
struct MachineTests {
    /// Something that the user of a machine does.
    enum Act: Sendable { case off, on, unplug, plugIn }

    private func perform(_ act: Act, on machine: Machine) {
        switch act {
        case .off: machine.switchBluetoothOff()
        case .on: machine.switchBluetoothOn()
        case .unplug: machine.unplugRadio()
        case .plugIn: machine.plugInRadio()
        }
    }

    @Test(
        "Managers receive each change of the Bluetooth switch or the radio, and nothing else",
        arguments: [
            ([.off, .on], [.poweredOn, .poweredOff, .poweredOn]),
            ([.off, .off, .on], [.poweredOn, .poweredOff, .poweredOn]),
            ([.on, .on], [.poweredOn]),
            ([.off, .unplug, .plugIn], [.poweredOn, .poweredOff, .resetting, .unsupported, .poweredOff]),
            ([.unplug, .off, .plugIn], [.poweredOn, .resetting, .unsupported, .poweredOff]),
            ([.unplug, .off, .on, .plugIn], [.poweredOn, .resetting, .unsupported, .poweredOn]),
            ([.unplug, .off, .plugIn, .on], [.poweredOn, .resetting, .unsupported, .poweredOff, .poweredOn]),
            ([.unplug, .plugIn], [.poweredOn, .resetting, .unsupported, .poweredOn]),
        ] as [([Act], [HostState])]
    )
    func switches(acts: [Act], states: [HostState]) async {
        let world = World(seed: 1), machine = world.machine("machine"), app = SeamApp()
        app.start(.central, on: machine)
        await world.advance(by: .seconds(2))
        for act in acts {
            perform(act, on: machine)
            await world.advance(by: .seconds(3))
        }
        #expect(app.states == states)
    }

    @Test("A machine whose Bluetooth was switched off is found again afterwards", arguments: UInt64(0)..<16)
    func switchedOff(seed: UInt64) async {
        let world = World(seed: seed, conditions: .init(loss: 0.2)), sensor = world.machine("server", at: .init(x: 2))
        let server = EchoServer(on: sensor)
        let client = EchoClient(on: world.machine("client"), count: 20, reconnects: true)
        await world.advance(by: .seconds(20))
        #expect(client.isComplete)
        sensor.switchBluetoothOff()
        await world.advance(by: .seconds(10))
        #expect(server.states.last == .poweredOff)
        #expect((client.connections, client.lostConnections) == (1, 1))
        sensor.switchBluetoothOn()
        await world.advance(by: .seconds(20))
        #expect((client.connections, client.lostConnections) == (2, 1))
    }

    @Test("A suspended app receives everything afterwards, in order, and continues", arguments: UInt64(0)..<16)
    func sleepingClient(seed: UInt64) async {
        let world = World(seed: seed, conditions: .init(loss: 0.3)), phone = world.machine("client")
        let server = EchoServer(on: world.machine("server", at: .init(x: 2)))
        let client = EchoClient(on: phone, count: 20)
        for step in 0..<400 where !client.isComplete {
            if step.isMultiple(of: 2) { phone.sendAppsToBackground(declaring: .peripheral) }
            await world.advance(by: .milliseconds(50))
            let count = client.events.count
            await world.advance(by: .milliseconds(100))
            if step.isMultiple(of: 2) { #expect(client.events.count == count) }
            phone.bringAppsToForeground()
            await world.advance(by: .milliseconds(50))
        }
        #expect(client.isComplete)
        #expect(server.written.count == 20)
    }

    @Test("A suspended app receives the first values up to the limit, and the overflow is a finding")
    func limit() async throws {
        let world = World(seed: 3), phone = world.machine("client"), sensor = world.machine("server", at: .init(x: 2))
        let server = EchoServer(on: sensor), client = EchoClient(on: phone, count: 1)
        await world.advance(by: .seconds(10))
        #expect(client.isComplete)
        phone.sendAppsToBackground(declaring: [])
        await world.advance(by: .seconds(1))
        let before = client.events.count
        for number in 0..<1_100 {
            server.send(.service(.update(EchoServer.outputID, [UInt8(number & 0xFF), UInt8(number >> 8)], to: nil)))
            await world.advance(by: .milliseconds(30))
        }
        world.separate(phone, sensor)
        await world.advance(by: .seconds(10))
        #expect(client.events.count == before)
        phone.bringAppsToForeground()
        await world.advance(by: .seconds(1))
        let heard = client.values.dropFirst().map { Int($0[0]) | Int($0[1]) << 8 }
        #expect(heard == Array(0..<1_024))
        #expect(client.lostConnections == 1)
        let links = client.events.last { if case .systemLinks = $0 { true } else { false } }
        #expect(links == .systemLinks([]))
        #expect(world.findings.map(\.rule) == [.missedValues])
    }

    @Test("An app that is closed while suspended receives nothing more")
    func closed() async {
        let world = World(seed: 4), phone = world.machine("client")
        let server = EchoServer(on: world.machine("server", at: .init(x: 2)))
        let client = EchoClient(on: phone, count: 1)
        await world.advance(by: .seconds(10))
        phone.sendAppsToBackground(declaring: [])
        await world.advance(by: .seconds(1))
        server.send(.service(.update(EchoServer.outputID, [1], to: nil)))
        await world.advance(by: .seconds(1))
        let before = client.events.count
        client.close()
        phone.bringAppsToForeground()
        await world.advance(by: .seconds(1))
        #expect(client.events.count == before)
    }

    @Test("Services of a suspended app refuse all requests", arguments: UInt64(0)..<16)
    func sleepingServer(seed: UInt64) async {
        let world = World(seed: seed), sensor = world.machine("server", at: .init(x: 2))
        let server = EchoServer(on: sensor), client = EchoClient(on: world.machine("client"), count: 400)
        await world.advance(by: .seconds(3))
        sensor.sendAppsToBackground(declaring: .central)
        await world.advance(by: .seconds(3))
        let written = server.written.count
        #expect((1..<400).contains(written))
        await world.advance(by: .seconds(3))
        #expect(server.written.count == written)
        #expect(
            client.events.contains { event in
                if case .peer(_, .valueWritten(_, .some(.att(.unlikelyError))), _) = event { true } else { false }
            }
        )
    }
}
