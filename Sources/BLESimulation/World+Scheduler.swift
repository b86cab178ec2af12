import BLERuntime
import BLEWire
public import Dispatch

extension World {
    /// A scheduler that calls closures on queues when the world reaches a given age, in place of
    /// `DispatchQueue.asyncAfter` and `Timer`.
    ///
    /// An app that takes its timers as a closure or protocol uses the same delays as outside of tests. But the delays
    /// pass in virtual time, so the test does not have to wait for them. The world waits for the queue before time
    /// continues.
    ///
    /// ```swift
    /// let reader = Reader(later: { seconds, work in world.scheduler.after(.seconds(seconds), work) })
    /// ```
    public var scheduler: Scheduler { Scheduler(world: self) }

    /// The scheduler of a world; see ``World/scheduler``.
    public struct Scheduler: Sendable {
        fileprivate let world: World

        /// Calls `work` on `queue` when `delay` of virtual time has passed.
        ///
        /// With a delay of zero, `work` is called when the world continues, before any time passes.
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

        /// Calls `work` on `queue` repeatedly, for the first time after one interval.
        ///
        /// The minimum interval is a millisecond.
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

        /// Returns a closure that runs `work`; managers created by `work` use the same machine as managers created by
        /// the caller.
        private static func inThisWorld(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let link = Bluetooth.link
            return { Bluetooth.$link.withValue(link, operation: work) }
        }
    }

    /// A scheduled call, which can be cancelled.
    ///
    /// The app need not retain it.
    public final class Appointment: Sendable {
        private weak let world: World?
        /// The number of the call in the world's timer queue; `nil` after the call was cancelled.
        private let number = Locked<Int?>(0)

        fileprivate init(_ world: World) { self.world = world }

        /// Cancels further calls.
        ///
        /// A call in progress continues.
        public func cancel() {
            let number = number.withLock { number in
                defer { number = nil }
                return number
            }
            if let number { _ = world?.core.withLock { $0.timers.cancel(number) } }
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
            let waker = TimerQueue.Waiter.call(queue, call)
            let outcome = number.withLock { number -> TimerQueue.OnAdd in
                guard number != nil else { return .cancelled }
                return world.core.withLock { core in
                    let new = core.timers.makeNumber()
                    number = new
                    return core.timers.add(new, until: Instant() + age, at: core.now, waker)
                }
            }
            switch outcome {
            case .waiting: world.nudge()
            case .due: waker.wake()
            case .cancelled: break
            }
        }
    }
}
