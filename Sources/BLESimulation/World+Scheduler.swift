import BLERuntime
import BLEWire
public import Dispatch

extension World {
    /// Calls closures on queues when the world is so old: what `DispatchQueue.asyncAfter` and `Timer` do by the
    /// computer's clock.
    ///
    /// An app that is given what waits for it, as a closure or behind a protocol of its own, waits in a test as long as
    /// it does for its users, and the test takes no longer. The world waits for the queue before time goes on.
    ///
    /// ```swift
    /// let reader = Reader(later: { seconds, work in world.scheduler.after(.seconds(seconds), work) })
    /// ```
    public var scheduler: Scheduler { Scheduler(world: self) }

    /// The scheduler of a world; see ``World/scheduler``.
    public struct Scheduler: Sendable {
        fileprivate let world: World

        /// Calls `work` on `queue` when so much time has passed.
        ///
        /// With no time at all that is when the world goes on, before time does.
        @discardableResult
        public func after(
            _ delay: Duration,
            on queue: DispatchQueue = .main,
            _ work: @escaping @Sendable () -> Void
        ) -> Appointment {
            let appointment = Appointment(world)
            appointment.arrange(at: world.now + delay, every: nil, on: queue, Self.inThisWorld(work))
            return appointment
        }

        /// Calls `work` on `queue` again and again, for the first time after one interval.
        ///
        /// An interval is a millisecond at least.
        @discardableResult
        public func every(
            _ interval: Duration,
            on queue: DispatchQueue = .main,
            _ work: @escaping @Sendable () -> Void
        ) -> Appointment {
            let appointment = Appointment(world), interval = max(interval, .milliseconds(1))
            appointment.arrange(at: world.now + interval, every: interval, on: queue, Self.inThisWorld(work))
            return appointment
        }

        /// Has managers that `work` makes live where those do that are made here.
        private static func inThisWorld(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let link = Bluetooth.link
            return { Bluetooth.$link.withValue(link, operation: work) }
        }
    }

    /// What a ``Scheduler`` was asked to call, which need not be kept.
    public final class Appointment: Sendable {
        private weak let world: World?
        /// The number with which it waits; `nil` once it was cancelled.
        private let number = Locked<Int?>(0)

        fileprivate init(_ world: World) { self.world = world }

        /// Calls nothing any more; what is being called goes on.
        public func cancel() {
            let number = number.withLock { number in
                defer { number = nil }
                return number
            }
            if let number { _ = world?.core.withLock { $0.sleepers.cancel(number) } }
        }

        fileprivate func arrange(
            at age: Duration,
            every interval: Duration?,
            on queue: DispatchQueue,
            _ work: @escaping @Sendable () -> Void
        ) {
            guard let world else { return }
            let call: @Sendable () -> Void = {
                guard self.number.withLock({ $0 != nil }) else { return }
                work()
                if let interval { self.arrange(at: age + interval, every: interval, on: queue, work) }
            }
            let waker = Sleepers.Waker.call(queue, call)
            let outcome = number.withLock { number -> Sleepers.OnAdd in
                guard number != nil else { return .cancelled }
                return world.core.withLock { core in
                    let new = core.sleepers.makeNumber()
                    number = new
                    return core.sleepers.add(new, until: Instant() + age, at: core.now, waker)
                }
            }
            switch outcome {
            case .asleep: world.nudge()
            case .due: waker.wake()
            case .cancelled: break
            }
        }
    }
}
