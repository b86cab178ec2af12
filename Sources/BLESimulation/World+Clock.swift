import BLERuntime
import BLEWire

extension World {
    /// A clock that shows how old the world is, and wakes tasks when the world has come so far.
    ///
    /// An app that takes its clock as an argument, an `any Clock<Duration>`, waits in a test as long as it does for
    /// its users, and the test takes no longer. A task of the main actor, or of an actor on the queue of a manager, is
    /// waited for before time goes on, as delegate methods are.
    ///
    /// ```swift
    /// let reader = phone.inhabit { Reader(clock: world.clock) }
    /// ```
    public var clock: Clock { Clock(world: self) }

    /// The clock of a world; see ``World/clock``.
    public struct Clock: _Concurrency.Clock, Sendable {
        /// A moment of a world.
        public struct Instant: InstantProtocol, Sendable {
            /// How old the world is then.
            public var age: Duration

            /// Creates the moment at which the world is so old.
            public init(age: Duration) { self.age = age }

            /// The moment that is `duration` later.
            public func advanced(by duration: Duration) -> Instant { Instant(age: age + duration) }

            /// How long it is until `other`.
            public func duration(to other: Instant) -> Duration { other.age - age }

            /// Whether `one` is before `other`.
            public static func < (one: Instant, other: Instant) -> Bool { one.age < other.age }
        }

        fileprivate let world: World

        /// How old the world is.
        public var now: Instant { Instant(age: world.now) }

        /// A nanosecond, which is what worlds count in.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Returns when the world is as old as `deadline` says, which takes no time but what happens in the world.
        ///
        /// - Throws: `CancellationError` if the task is cancelled before.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            let number = world.core.withLock { $0.sleepers.makeNumber() }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let due = BLEWire.Instant() + deadline.age
                    let outcome = world.core.withLock { core in
                        core.sleepers.add(number, until: due, at: core.now, .task(continuation))
                    }
                    switch outcome {
                    case .asleep: world.nudge()
                    case .due: continuation.resume()
                    case .cancelled: continuation.resume(throwing: CancellationError())
                    }
                }
            } onCancel: {
                let waker = world.core.withLock { $0.sleepers.cancel(number) }
                if case .task(let continuation) = waker { continuation.resume(throwing: CancellationError()) }
            }
        }
    }
}
