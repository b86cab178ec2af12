import BLERuntime
import BLEWire

extension World {
    /// A clock that shows the age of the world and wakes tasks when the world reaches a given age.
    ///
    /// An app that takes its clock as an argument (`any Clock<Duration>`) uses the same delays as outside of tests. But
    /// the delays pass in virtual time, so the test does not have to wait for them. Before time continues, the world
    /// waits for woken tasks on the main actor, or on an actor that runs on a manager's queue, as it does for delegate
    /// methods.
    ///
    /// ```swift
    /// let reader = phone.inhabit { Reader(clock: world.clock) }
    /// ```
    public var clock: Clock { Clock(world: self) }

    /// The clock of a world; see ``World/clock``.
    public struct Clock: _Concurrency.Clock, Sendable {
        /// A point in time of a world, given by the age of the world.
        public struct Instant: InstantProtocol, Sendable {
            /// The age of the world.
            public var age: Duration

            /// Creates the instant of this age.
            public init(age: Duration) { self.age = age }

            /// Returns the instant that is `duration` later.
            public func advanced(by duration: Duration) -> Instant { Instant(age: age + duration) }

            /// Returns the duration until `other`.
            public func duration(to other: Instant) -> Duration { other.age - age }

            /// Returns whether `one` is before `other`.
            public static func < (one: Instant, other: Instant) -> Bool { one.age < other.age }
        }

        fileprivate let world: World

        /// The current age of the world.
        public var now: Instant { Instant(age: world.now) }

        /// A nanosecond, the unit of time in worlds.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Waits until the world reaches `deadline`.
        ///
        /// - Throws: `CancellationError` if the task is cancelled.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            let number = world.core.withLock { $0.timers.makeNumber() }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let due = BLEWire.Instant() + deadline.age
                    let outcome = world.core.withLock { core in
                        core.timers.add(number, until: due, at: core.now, .task(continuation))
                    }
                    switch outcome {
                    case .waiting: world.nudge()
                    case .due: continuation.resume()
                    case .cancelled: continuation.resume(throwing: CancellationError())
                    }
                }
            } onCancel: {
                let waker = world.core.withLock { $0.timers.cancel(number) }
                if case .task(let continuation) = waker { continuation.resume(throwing: CancellationError()) }
            }
        }
    }
}
