package import BLEWire
import Dispatch

/// One thread that waits, in one call of the system, for descriptors, for other threads and for the next deadline.
///
/// What belongs to a loop happens on its thread, a round at a time: the thread waits; what other threads posted runs;
/// descriptors that are ready are handled; timers that are due ring; then the owner takes its turn, once for all of
/// that. While the thread waits, another one may take a turn in its place (``takeTurnHere()``), or wait
/// (``waitHere(until:)``). Actors may have a loop as their executor. The thread ends when nobody holds the loop any
/// more.
package final class EventLoop: SerialExecutor {
    /// What the deadlines of this loop are told in.
    package let clock = MonotonicClock()
    let thread: LoopThread

    /// Creates a loop that begins with ``start(turn:)``; the system shows 15 octets of `name` as that of its thread.
    package init(_ name: String) { thread = LoopThread(name: name, clock: clock) }

    deinit { thread.stop() }

    /// Starts the thread, once.
    ///
    /// - Parameter turn: Called on the thread at the end of each round, also of one that came too early; returns when
    ///   it must be called again at the latest.
    package func start(turn: @escaping @Sendable () -> Instant? = { nil }) { thread.start(turn: turn) }

    /// Runs `body` on the thread in the next round, after what was posted before.
    package func post(_ body: @escaping @Sendable () -> Void) { thread.post(body) }

    /// Has a round begin soon.
    package func wake() { thread.wake() }

    /// Takes the turn of the owner on the calling thread, if the loop waits and nobody has woken it.
    ///
    /// That spares both threads the change between them, and the caller waits as long as a turn takes. What the turn
    /// uses finds itself on the thread of the loop (``isCurrent``).
    ///
    /// - Returns: Whether it did; if not, the caller may ``wake()`` the loop.
    package func takeTurnHere() -> Bool { thread.takeTurnHere() }

    /// Has the calling thread wait for the program at the other end, in place of the loop's own.
    ///
    /// It takes the turns that the answers bring, for 200 µs at most, and only while the loop would ask itself
    /// (``BusyPolling``).
    ///
    /// - Parameter isDone: Whether the caller has what it waits for.
    /// - Returns: Whether it has. The loop relies on the caller then, for a millisecond: it must come back, or
    ///   ``stopWaiting()``.
    func waitHere(until isDone: () -> Bool) -> Bool { thread.waitHere(until: isDone) }

    /// Has the loop's own thread wait again.
    func stopWaiting() { thread.stopWaiting() }

    /// Runs `body` on the thread and waits for it; at once if this is the thread.
    package func sync<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        if isCurrent { return body() }
        let done = DispatchSemaphore(value: 0), result = Locked<Value?>(nil)
        post {
            let value = body()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("a body that ran left its value") }
        return value
    }

    /// Whether the caller is on the thread, or has its place.
    package var isCurrent: Bool { thread.isCurrent }

    /// Has the thread ask for what is there again and again for a moment before it sleeps, where that pays, since
    /// there is a program at the other end (``BusyPolling``).
    ///
    /// Must be called on the thread.
    ///
    /// - Parameters:
    ///   - attempt: Called on the thread, or in its place; reads what the program has said, if it has said something,
    ///     and returns whether it has. To read costs one call of the system less than to ask first.
    ///   - beforeAsking: Called there too, after attempts that were not in vain and before the system is asked about
    ///     all that the loop watches.
    package func allowPolling(
        _ attempt: @escaping @Sendable () -> Bool,
        beforeAsking: @escaping @Sendable () -> Void = {}
    ) {
        precondition(isCurrent, "how a loop waits is set on its thread")
        thread.allowPolling(attempt, beforeAsking: beforeAsking)
    }

    /// Watches a descriptor from the next round on.
    ///
    /// - Parameters:
    ///   - descriptor: An open file, which is held until the watch is cancelled.
    ///   - interest: What to wait for at first.
    ///   - ready: Called on the thread with what is possible now. An error or the end of a stream counts as whatever
    ///     was waited for.
    /// - Returns: The watch, which goes on until it is cancelled.
    package func watch(
        _ descriptor: Descriptor,
        for interest: LoopWatch.Interest,
        ready: @escaping @Sendable (LoopWatch.Interest) -> Void
    ) -> LoopWatch {
        let watch = LoopWatch(descriptor, interest, ready)
        if isCurrent { thread.add(watch) } else { post { [thread] in thread.add(watch) } }
        return watch
    }

    /// Rings on the thread at the next round at or after `deadline`, unless it is cancelled before.
    ///
    /// Must be called on the thread.
    package func alarm(at deadline: Instant, ring: @escaping @Sendable () -> Void) -> LoopAlarm {
        precondition(isCurrent, "an alarm is set on the thread of its loop")
        let alarm = LoopAlarm(deadline, ring)
        thread.add(alarm)
        return alarm
    }

    package func enqueue(_ job: UnownedJob) {
        post { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { precondition(isCurrent, "this runs on the thread of the loop only") }
}
