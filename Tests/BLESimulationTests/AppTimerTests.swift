import BLESimulation
import Testing

/// The left column of the table of timers in docs/TESTING.md; ``AppTimerXCTests`` has the right one.
@Suite("App timers under Swift Testing") @MainActor
struct AppTimerTests {
    nonisolated static let working: [AppTimer] = [.asyncAfter, .dispatchSource, .taskSleep, .ownRunLoop]

    @Test("A timer fires while the world's time is spread over the computer's", arguments: working)
    func spread(timer: AppTimer) async {
        let world = World(seed: 1), fired = Flag()
        timer.start { fired.raise() }
        #expect(await world.advance(atMost: .seconds(60), spreadOver: .seconds(60)) { fired.isRaised })
        #expect(world.now < .seconds(60))
    }

    @Test("A timer fires in real time", arguments: working)
    func realTime(timer: AppTimer) async {
        let world = World(seed: 1)
        world.runInRealTime()
        await withCheckedContinuation { done in timer.start { done.resume() } }
    }

    @Test("A timer on the main run loop never fires, because nothing runs it")
    func mainRunLoop() async {
        let world = World(seed: 1), fired = Flag(), later = Flag()
        AppTimer.mainRunLoop.start {
            fired.raise()
            AppTimer.asyncAfter.start { later.raise() }
        }
        for _ in 0..<4 {
            let other = Flag()
            AppTimer.asyncAfter.start { other.raise() }
            #expect(await world.advance(atMost: .seconds(60), spreadOver: .seconds(60)) { other.isRaised })
        }
        #expect(!fired.isRaised && !later.isRaised)
    }

    @Test("A timer fires too late for a world at full speed, unless the world waits for something else")
    func unspread() async {
        let world = World(seed: 1)
        #expect(await !world.advance(atMost: .milliseconds(20)) { false })
        #expect(world.now == .milliseconds(20))
    }

    @Test("A world whose time is spread reaches exactly the requested time, and is never ahead")
    func pace() async {
        let world = World(seed: 1), clock = ContinuousClock(), begin = clock.now
        var isAhead = false
        let isDone = await world.advance(atMost: .seconds(10), spreadOver: .milliseconds(200)) {
            if (world.now / .seconds(10)) > (clock.now - begin) / .milliseconds(200) { isAhead = true }
            return false
        }
        #expect(!isDone && !isAhead && world.now == .seconds(10))
        #expect(await world.advance(atMost: .seconds(1), spreadOver: .zero) { world.now >= .milliseconds(10_500) })
    }
}
