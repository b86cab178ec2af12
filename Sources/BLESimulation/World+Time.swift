import BLEHost
import BLERuntime
import BLEWire
import Dispatch

extension World {
    /// Lets `duration` pass, which takes no longer than what happens in it.
    ///
    /// Time stands still while apps work: what an app asks for in a delegate method is asked at the instant of the
    /// event, and one manager is served at a time. The world goes on when the queues on which managers were called and
    /// the main queue are empty, and nothing new has been asked for meanwhile; so work that hops between those, or that
    /// a task of the main actor carries on, is waited for. So are the delegates of a channel's streams, on whichever
    /// run loop they are scheduled, as long as a thread runs that loop: one that keeps them waiting for a second of the
    /// computer's time is waited for no longer. What an app does on a queue or thread of its own choice, such as
    /// reading streams there without being told, or with timers, happens at a time that only the computer knows: it
    /// works, but no two runs are alike. ``clock`` and ``scheduler`` are for apps that can be given one.
    ///
    /// Managers may use the main queue, and this method may be called from the main actor; the main thread must not be
    /// blocked meanwhile.
    public func advance(by duration: Duration) async {
        precondition(realTime.withLock { $0 == nil }, "a world that runs in real time needs nobody to advance it")
        let end = core.withLock { $0.now + duration }
        await settleApps()
        while core.withLock({ $0.run(until: end) }) { await deliver(until: end) }
    }

    /// Lets time pass until `isDone` says so, and looks every ten milliseconds of the world and at the end.
    ///
    /// ```swift
    /// #expect(await world.advance(atMost: .seconds(60)) { reader.values.count == 3 })
    /// ```
    ///
    /// - Returns: Whether it was so within `duration`.
    public func advance(atMost duration: Duration, until isDone: () -> Bool) async -> Bool {
        let end = now + duration
        while !isDone() {
            let rest = end - now
            guard rest > .zero else { return false }
            await advance(by: min(rest, .milliseconds(10)))
        }
        return true
    }

    /// Lets time pass until `isDone` says so, evenly spread over a span of the computer's time, so that the app's own
    /// timers fire meanwhile.
    ///
    /// `asyncAfter`, `Task.sleep` and Dispatch sources follow the computer's clock, for which an hour of a world can be
    /// over in a moment. Here the world is never ahead: when half of `realTime` is over by that clock, so is half of
    /// `duration`, unless `isDone` was true before.
    ///
    /// ```swift
    /// // The app connects again by asyncAfter, two seconds after a failure.
    /// let isBack = await world.advance(atMost: .seconds(60), spreadOver: .seconds(10)) { reader.isConnected }
    /// ```
    ///
    /// - Parameters:
    ///   - duration: How much of the world's time passes at most.
    ///   - realTime: How long that takes by the computer's clock, at least.
    ///   - isDone: Whether what the test waits for has happened.
    /// - Returns: Whether it happened.
    public func advance(
        atMost duration: Duration,
        spreadOver realTime: Duration,
        until isDone: () -> Bool
    ) async -> Bool {
        let clock = ContinuousClock(), begin = clock.now, start = now
        while !isDone() {
            let share = realTime > .zero ? min(1, max(0, (clock.now - begin) / realTime)) : 1
            let rest = start + duration * share - now
            if rest > .zero {
                await advance(by: min(rest, .milliseconds(10)))
            } else if share < 1 {
                do { try await clock.sleep(for: .milliseconds(1)) } catch { return isDone() }
            } else {
                return isDone()
            }
        }
        return true
    }

    /// Has the world keep pace with the computer's clock from now on, by itself.
    ///
    /// That is for people and for programs that have to do with the outside; two runs are never alike. The world stops
    /// when nobody holds it any more.
    public func runInRealTime() {
        let age = now
        let started = realTime.withLock { realTime -> RealTimeClock? in
            guard realTime == nil else { return nil }
            realTime = RealTimeClock(self, age: age)
            return realTime
        }
        started?.start()
    }

    /// Lets no time pass until the app has been called on a thread of its own choice.
    func hold() -> Hold? { runsInRealTime ? nil : holds.add() }

    /// Whether time passes by itself.
    var runsInRealTime: Bool { realTime.withLock { $0 != nil } }

    /// Has a world in real time look at what it was told.
    func nudge() { realTime.withLock { $0 }?.nudge() }
}
