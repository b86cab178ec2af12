import BLEHost
import BLERuntime
import BLESimulation
import Dispatch
import Foundation
import Testing

@Suite("Holding a world")
struct HoldTests {
    /// An app that, told of the radio, asks for a scan on a thread of its own.
    private final class Wanderer: SeamApp, @unchecked Sendable {
        let letsGo: Bool
        private let kept = Locked<TimeHold?>(nil)

        init(letsGo: Bool) {
            self.letsGo = letsGo
            super.init(on: DispatchQueue(label: "wanderer"))
        }

        override func react(to event: ClientEvent) {
            guard event == .stateChanged(.poweredOn) else { return }
            let hold = holdWorld()
            #expect(hold != nil)
            guard letsGo else { return kept.withLock { $0 = hold } }
            Thread.detachNewThread {
                // Long enough for the world to go on, if it did not wait.
                for _ in 0..<200_000 { withExtendedLifetime(hold) {} }
                self.send(.scan(ScanRequest()))
                withExtendedLifetime(hold) {}
            }
        }
    }

    @Test("A request made on a thread that holds the world is sent at the time of the event")
    func waits() async {
        func run() async -> UInt64 {
            let world = World(seed: 1), app = Wanderer(letsGo: true)
            app.start(.central, on: world.machine("phone"))
            await world.advance(by: .seconds(1))
            #expect(app.requests.count == 1)
            return world.traceHash
        }
        let first = await run(), again = await run()
        #expect(first == again)
    }

    @Test("A world that is never released continues after a while")
    func givesUp() async {
        let world = World(seed: 1), app = Wanderer(letsGo: false)
        app.start(.central, on: world.machine("phone"))
        await world.advance(by: .seconds(1))
        await world.advance(by: .seconds(1))
        #expect(world.now == .seconds(2))
    }

    @Test("A world in real time needs no hold, and threads may block in it")
    func realTime() {
        let world = World(seed: 1)
        let session = world.machine("phone").open(.central, on: DispatchQueue(label: "app")) { _ in }
        #expect(!session.passesTime)
        world.runInRealTime()
        #expect(session.hold() == nil)
        #expect(session.passesTime)
        session.close()
    }
}
