import BLEController
import BLEHost
import BLERuntime
import BLEWire
import Dispatch

extension World {
    /// Lets `duration` of virtual time pass.
    ///
    /// The call takes only as much real time as the simulation and the apps need for their work.
    ///
    /// Virtual time stands still while apps work: a request in a delegate method happens at the instant of the event,
    /// and one manager is called at a time. The world continues when the queues of the called managers and the main
    /// queue are empty and apps have made no new requests. So the world waits for work that moves between these queues
    /// or continues in a task on the main actor. It also waits for the delegates of a channel's streams, on any run
    /// loop, if a thread runs that loop and calls them within a second of real time.
    ///
    /// Work on other queues and threads, such as reading streams without callbacks, and the computer's own timers take
    /// effect at times that depend on the computer: they work, but no two runs are the same. If an app takes its clock
    /// or timers as an argument, pass it ``clock`` or ``scheduler``.
    ///
    /// Managers may use the main queue, and this method may be called on the main actor, but the main thread must not
    /// be blocked while the method runs.
    public func advance(by duration: Duration) async {
        precondition(realTime.withLock { $0 == nil }, "a world that runs in real time cannot be advanced")
        let end = core.withLock { $0.now + duration }
        await settleApps()
        while core.withLock({ $0.run(until: end) }) { await deliver(until: end) }
    }

    /// Lets virtual time pass until `isDone` returns true, but at most `duration`.
    ///
    /// `isDone` is called every ten milliseconds of virtual time and at the end.
    ///
    /// ```swift
    /// #expect(await world.advance(atMost: .seconds(60)) { reader.values.count == 3 })
    /// ```
    ///
    /// - Returns: True if `isDone` returned true within `duration`.
    public func advance(atMost duration: Duration, until isDone: () -> Bool) async -> Bool {
        let end = now + duration
        while !isDone() {
            let rest = end - now
            guard rest > .zero else { return false }
            await advance(by: min(rest, .milliseconds(10)))
        }
        return true
    }

    /// Lets virtual time pass until `isDone` returns true, evenly spread over a period of real time, so that the app's
    /// own timers can fire.
    ///
    /// `asyncAfter`, `Task.sleep` and Dispatch sources follow the computer's clock, and an hour of a world may take
    /// only a moment by that clock. With this method, virtual time does not run ahead of that clock: after half of
    /// `realTime`, at most half of `duration` has passed.
    ///
    /// ```swift
    /// // The app connects again by asyncAfter, two seconds after a failure.
    /// let isBack = await world.advance(atMost: .seconds(60), spreadOver: .seconds(10)) { reader.isConnected }
    /// ```
    ///
    /// - Parameters:
    ///   - duration: The maximum virtual time to let pass.
    ///   - realTime: The minimum time that `duration` takes by the computer's clock.
    ///   - isDone: Returns whether the event that the test waits for has happened.
    /// - Returns: True if the event has happened.
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

    /// Lets the world run by itself from now on, in step with real time.
    ///
    /// This is for interactive use, and for programs that communicate with something outside of the world. No two runs
    /// are the same. The world stops when it is released.
    public func runInRealTime() {
        let age = now
        let started = realTime.withLock { realTime -> RealTimeClock? in
            guard realTime == nil else { return nil }
            realTime = RealTimeClock(self, age: age)
            return realTime
        }
        guard let started else { return }
        core.withLock { $0.air.pauseUnheardAdvertising() }
        started.start()
    }

    /// Stops virtual time until the returned object is released, which happens after an app has been called on its own
    /// thread; returns `nil` in real time.
    func hold() -> TimeHold? { runsInRealTime ? nil : holds.add() }

    /// True if time passes by itself.
    var runsInRealTime: Bool { realTime.withLock { $0 != nil } }

    /// Makes the world process its actions soon, if it runs in real time.
    func nudge() { realTime.withLock { $0 }?.nudge() }
}
