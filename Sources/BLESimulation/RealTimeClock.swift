import BLERuntime
import BLEWire
import Dispatch
import Synchronization

/// Has a world keep pace with the computer's clock.
final class RealTimeClock: Sendable {
    private weak let world: World?
    private let queue = DispatchQueue(label: "corebluetooth.world", qos: .userInitiated)
    private let clock = MonotonicClock()
    private let alarm: Alarm
    /// How old the world was when the clock was made.
    private let age: Duration

    init(_ world: World, age: Duration) {
        self.world = world
        self.age = age
        alarm = Alarm(queue: queue, clock: clock)
    }

    func start() {
        alarm.start { [weak self] in self?.turn() }
        nudge()
    }

    /// Has the world hear soon what it was told.
    func nudge() { queue.async { self.turn() } }

    /// Lets everything happen that is due, then hears what was asked for.
    private func turn() {
        guard let world else { return alarm.cancel() }
        let now = clock.now + age
        let (launches, deliveries, sleepers, deadline) = world.core.withLock { core in
            while core.step(until: now) {}
            core.now = max(core.now, now)
            core.hear()
            var sleepers: [Sleepers.Continuation] = []
            while let sleeper = core.sleepers.takeAwake() { sleepers.append(sleeper) }
            return (core.takeLaunches(), core.takeDeliveries(), sleepers, core.deadline)
        }
        for launch in launches { world.post(launch) {} }
        for delivery in deliveries { world.post(delivery) {} }
        for sleeper in sleepers { sleeper.resume() }
        alarm.set(deadline.map { Instant() + ($0 - (Instant() + age)) })
    }
}
