import BLERuntime
import BLEWire

/// Has a world keep pace with the computer's clock.
final class RealTimeClock: Sendable {
    private weak let world: World?
    private let loop = EventLoop("bluetooth-world")
    /// How old the world was when the clock was made.
    private let age: Duration

    init(_ world: World, age: Duration) {
        self.world = world
        self.age = age
    }

    func start() {
        loop.start { [weak self] in self?.turn() }
        nudge()
    }

    /// Has the world hear soon what it was told.
    func nudge() { loop.wake() }

    /// Lets everything happen that is due, then hears what was asked for; returns when there is more to do.
    private func turn() -> Instant? {
        guard let world else { return nil }
        let now = loop.clock.now + age
        let (launches, deliveries, sleepers, deadline) = world.core.withLock { core in
            while core.step(until: now) {}
            core.now = max(core.now, now)
            core.hear()
            var sleepers: [Sleepers.Waker] = []
            while let sleeper = core.sleepers.takeAwake() { sleepers.append(sleeper) }
            return (core.takeLaunches(), core.takeDeliveries(), sleepers, core.deadline)
        }
        for launch in launches { world.post(launch) {} }
        for delivery in deliveries { world.post(delivery) {} }
        for sleeper in sleepers { sleeper.wake() }
        return deadline.map { Instant() + ($0 - (Instant() + age)) }
    }
}
