import BLERuntime
import BLEWire

/// A clock that keeps a world in step with real time.
final class RealTimeClock: Sendable {
    private weak let world: World?
    private let loop = EventLoop("bluetooth-world")
    /// The age of the world when the clock was created.
    private let age: Duration

    init(_ world: World, age: Duration) {
        self.world = world
        self.age = age
    }

    func start() {
        loop.start { [weak self] in self?.turn() }
        nudge()
    }

    /// The current age of the world.
    var now: Duration { loop.clock.now + age - Instant() }

    /// Makes the world process its actions soon.
    func nudge() { loop.wake() }

    /// Runs everything in the world that is due, including its queued actions, and delivers the resulting events.
    ///
    /// Returns the time of the next turn; `nil` if nothing is scheduled or the world has been released.
    private func turn() -> Instant? {
        guard let world else { return nil }
        let now = Instant() + now
        let (launches, deliveries, timers, deadline) = world.core.withLock { core in
            while core.step(until: now) {}
            core.now = max(core.now, now)
            core.processInbox()
            var timers: [TimerQueue.Waiter] = []
            while let timer = core.timers.takeReady() { timers.append(timer) }
            return (core.takeLaunches(), core.takeDeliveries(), timers, core.deadline)
        }
        for launch in launches { world.post(launch) {} }
        for delivery in deliveries { world.post(delivery) {} }
        for timer in timers { timer.wake() }
        return deadline.map { Instant() + ($0 - (Instant() + age)) }
    }
}
