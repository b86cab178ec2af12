import BLEHost
import BLERuntime
import BLEWire
import Dispatch

extension World {
    /// Lets `duration` pass, which takes only as long as the work in it.
    ///
    /// Virtual time stands still while apps work: a request in a delegate method happens at the instant of the event,
    /// and one manager is called at a time. The world continues when the queues of the called managers and the main
    /// queue are empty and no new requests were made; so work that moves between these queues, or continues in a main
    /// actor task, is waited for. The delegates of a channel's streams are waited for as well, on whichever run loop
    /// they are scheduled, as long as a thread runs that loop and processes them within a second of real time. Work on
    /// other queues and threads, such as reading streams without callbacks, and timers happen at times that only the
    /// computer knows: they work, but no two runs are alike. Use ``clock`` and ``scheduler`` in apps that can be given
    /// one.
    ///
    /// Managers may use the main queue, and this method may be called on the main actor, but the main thread must not
    /// be blocked meanwhile.
    public func advance(by duration: Duration) async {
        precondition(realTime.withLock { $0 == nil }, "a world that runs in real time cannot be advanced")
        let end = core.withLock { $0.now + duration }
        await settleApps()
        while core.withLock({ $0.run(until: end) }) { await deliver(until: end) }
    }

    /// Lets time pass until `isDone` returns true, which is checked every ten milliseconds of virtual time and at the
    /// end.
    ///
    /// ```swift
    /// #expect(await world.advance(atMost: .seconds(60)) { reader.values.count == 3 })
    /// ```
    ///
    /// - Returns: True if the condition became true within `duration`.
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

    /// Keeps the world in step with real time from now on, automatically.
    ///
    /// This is for people, and for programs that interact with the outside; two runs are never alike. The world stops
    /// when it is released.
    public func runInRealTime() {
        let age = now
        let started = realTime.withLock { realTime -> RealTimeClock? in
            guard realTime == nil else { return nil }
            realTime = RealTimeClock(self, age: age)
            return realTime
        }
        started?.start()
    }

    /// Stops virtual time until the app was called on its own thread.
    func hold() -> TimeHold? { runsInRealTime ? nil : holds.add() }

    /// True if time passes by itself.
    var runsInRealTime: Bool { realTime.withLock { $0 != nil } }

    /// Makes a world in real time process its actions.
    func nudge() { realTime.withLock { $0 }?.nudge() }
}
