import BLEHost
import BLERuntime
import BLESimulation
import Dispatch
import Testing

@Suite("Time stops while apps work")
struct QuiescenceTests {
    /// An app that, told of the radio, does something on other queues before it asks for a scan.
    final class Hopper: SeamApp, @unchecked Sendable {
        private let path: [DispatchQueue]

        init(_ path: [DispatchQueue], on queue: DispatchQueue) {
            self.path = path
            super.init(on: queue)
        }

        override func react(to event: ClientEvent) {
            if event == .stateChanged(.poweredOn) { hop(path[...]) }
        }

        private func hop(_ path: ArraySlice<DispatchQueue>) {
            guard let next = path.first else { return send(.scan(ScanRequest())) }
            next.async { self.hop(path.dropFirst()) }
        }
    }

    @Test("A request made after a few queue hops is sent at the time of the event", arguments: 0...3)
    func hops(count: Int) async {
        let world = World(seed: 1)
        let queue = DispatchQueue(label: "app")
        let app = Hopper(Array([queue, .main, queue].prefix(count)), on: queue)
        app.start(.central, on: world.machine("phone"))
        await world.advance(by: .seconds(1))
        #expect(app.requests.count == 1)
    }

    @Test("A slow app takes no virtual time")
    func slow() async {
        final class Sleeper: SeamApp, @unchecked Sendable {
            var world: World?
            var moments: [Duration] = []
            override func react(to event: ClientEvent) {
                guard let world else { return }
                moments.append(world.now)
                var sum: UInt64 = 0
                for number in 0..<200_000 as Range<UInt64> { sum = sum &* 31 &+ number }
                moments.append(sum == 1 ? .zero : world.now)
            }
        }
        let world = World(seed: 1)
        let app = Sleeper()
        app.world = world
        app.start(.central, on: world.machine("phone"))
        await world.advance(by: .seconds(5))
        #expect(app.moments.count >= 4)
        for index in stride(from: 0, to: app.moments.count, by: 2) {
            #expect(app.moments[index] == app.moments[index + 1])
        }
    }

    @Test("Managers created in delegate methods belong to the same world")
    func nested() async {
        final class Parent: SeamApp, @unchecked Sendable {
            var child: SeamApp?
            override func react(to event: ClientEvent) {
                guard event == .stateChanged(.poweredOn), child == nil, let link = Bluetooth.link else { return }
                let child = SeamApp(on: queue)
                self.child = child
                child.start(.peripheral, on: link)
            }
        }
        let world = World(seed: 1), other = World(seed: 2)
        let parent = Parent(), stranger = Parent()
        world.inhabit { if let link = Bluetooth.link { parent.start(.central, on: link) } }
        other.inhabit { if let link = Bluetooth.link { stranger.start(.central, on: link) } }
        await world.advance(by: .seconds(1))
        await other.advance(by: .seconds(1))
        #expect(parent.child?.states.last == .poweredOn)
        #expect(stranger.child?.states.last == .poweredOn)
    }

    @Test("Apps on the main queue run while the main actor advances the world")
    @MainActor func mainQueue() async {
        let world = World(seed: 4)
        let server = EchoServer(on: world.machine("server"), queue: .main)
        let client = EchoClient(on: world.machine("client"), count: 5, queue: .main)
        await world.advance(by: .seconds(20))
        #expect(server.states.last == .poweredOn)
        #expect(client.isComplete)
    }

    @Test("Apps on concurrent queues receive events in order, and runs are reproducible")
    func concurrent() async {
        func run() async -> UInt64 {
            let world = World(seed: 4, conditions: .init(loss: 0.2))
            let pool = DispatchQueue(label: "pool", attributes: .concurrent)
            let queue = { (name: String) in DispatchQueue(label: name, target: pool) }
            let server = EchoServer(on: world.machine("server"), queue: queue("server"))
            let client = EchoClient(on: world.machine("client"), count: 10, queue: queue("client"))
            await world.advance(by: .seconds(20))
            #expect(client.isComplete)
            #expect(server.written.count == 10)
            return world.traceHash
        }
        let first = await run(), again = await run()
        #expect(first == again)
    }

    @Test("A closed session receives nothing more")
    func closed() async {
        let world = World(seed: 1)
        let app = SeamApp()
        app.start(.central, on: world.machine("phone"))
        app.close()
        await world.advance(by: .seconds(1))
        #expect(app.events.isEmpty)
    }

    /// An app that hears many advertisements, and in the middle of them does something on other queues.
    final class Listener: SeamApp, @unchecked Sendable {
        private let world: World
        private let path: [DispatchQueue]
        private(set) var count = 0
        private(set) var heard: Duration?
        private(set) var asked: Duration?

        init(in world: World, _ path: [DispatchQueue]) {
            self.world = world
            self.path = path
            super.init(on: .main)
        }

        override func react(to event: ClientEvent) {
            switch event {
            case .stateChanged(.poweredOn): send(.scan(ScanRequest(allowsDuplicates: true)))
            case .discovered:
                count += 1
                guard count == 200 else { return }
                heard = world.now
                hop(path[...])
            default: break
            }
        }

        private func hop(_ path: ArraySlice<DispatchQueue>) {
            if let next = path.first { return next.async { self.hop(path.dropFirst()) } }
            asked = world.now
            send(.stopScan)
        }
    }

    @Test("A main queue app's request after many ignored events is sent at the time of the event", arguments: 0...3)
    func late(count: Int) async {
        func run(_ path: [DispatchQueue]) async -> (Listener, UInt64) {
            let world = World(seed: 2)
            for number in 0..<4 { world.place(SimulatedPeripheral(name: "beacon \(number)", services: [])) }
            let app = Listener(in: world, path)
            app.start(.central, on: world.machine("phone"))
            await world.advance(by: .seconds(60))
            return (app, world.traceHash)
        }
        let (app, hash) = await run(Array(repeating: .main, count: count))
        #expect(app.count == 200)
        #expect(app.heard != nil)
        #expect(app.asked == app.heard)
        #expect(await run([]).1 == hash)
    }
}
