package import BLEWire
import Dispatch

/// A thread that waits for descriptors, commands of other threads and the next deadline in one system call.
///
/// The loop's work happens on its thread, one pass at a time: it waits, runs posted closures, handles ready
/// descriptors, fires due alarms, and then calls its owner's turn once. While the thread waits, another thread may take
/// a turn (``takeTurnHere()``) or wait (``waitHere(until:)``) in its place. Actors may use a loop as their executor.
/// The thread ends when the loop is released.
package final class EventLoop: SerialExecutor {
    /// The clock of this loop's deadlines.
    package let clock = MonotonicClock()
    let thread: LoopThread

    /// Creates a loop; call ``start(turn:)`` to start it.
    ///
    /// The system shows 15 octets of `name` as the thread's name.
    package init(_ name: String) { thread = LoopThread(name: name, clock: clock) }

    deinit { thread.stop() }

    /// Starts the thread, once.
    ///
    /// - Parameter turn: Called on the thread at the end of each round, even an early one; returns the latest time for
    ///   the next call.
    package func start(turn: @escaping @Sendable () -> Instant? = { nil }) { thread.start(turn: turn) }

    /// Runs `body` on the thread in the next pass, after earlier ones.
    package func post(_ body: @escaping @Sendable () -> Void) { thread.post(body) }

    /// Makes the loop start a pass soon.
    package func wake() { thread.wake() }

    /// Takes the owner's turn on the calling thread, if the loop is waiting and was not woken.
    ///
    /// This avoids two thread switches; the caller is busy for the duration of a turn. Code in the turn sees itself on
    /// the loop's thread (``isCurrent``).
    ///
    /// - Returns: True if it did; otherwise the caller may ``wake()`` the loop.
    package func takeTurnHere() -> Bool { thread.takeTurnHere() }

    /// Waits for the program at the other end on the calling thread, in place of the loop's thread.
    ///
    /// Takes the turns that responses cause, for at most 200 µs, and only while the loop itself would poll
    /// (``BusyPolling``).
    ///
    /// - Parameter isDone: Returns true when the caller has its result.
    /// - Returns: True if it did. For the next millisecond, the loop relies on the caller to call again or to
    ///   ``stopWaiting()``.
    func waitHere(until isDone: () -> Bool) -> Bool { thread.waitHere(until: isDone) }

    /// Makes the loop's own thread wait again.
    func stopWaiting() { thread.stopWaiting() }

    /// Runs `body` on the thread and waits for it; immediately if this is the thread.
    package func sync<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        if isCurrent { return body() }
        let done = DispatchSemaphore(value: 0), result = Locked<Value?>(nil)
        post {
            let value = body()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("a finished body has stored its value") }
        return value
    }

    /// True if the caller is on the loop's thread, or acts in its place.
    package var isCurrent: Bool { thread.isCurrent }

    /// Allows the thread to poll for a short time before it sleeps, because there is a program at the other end
    /// (``BusyPolling``).
    ///
    /// Must be called on the loop's thread.
    ///
    /// - Parameters:
    ///   - attempt: Called on the thread that waits; reads from the program and returns true if there was something to
    ///     read. This takes one system call less than polling first.
    ///   - beforePolling: Called on the same thread after successful attempts, before the system is polled for all
    ///     watched descriptors.
    package func allowPolling(
        _ attempt: @escaping @Sendable () -> Bool,
        beforePolling: @escaping @Sendable () -> Void = {}
    ) {
        precondition(isCurrent, "the wait strategy must be set on the loop's thread")
        thread.allowPolling(attempt, beforePolling: beforePolling)
    }

    /// Watches a descriptor from the next pass on.
    ///
    /// - Parameters:
    ///   - descriptor: An open file, which stays open until the watch is cancelled.
    ///   - interest: The initial events to wait for.
    ///   - ready: Called on the thread with the events that occurred. An error or the end of a stream counts as all
    ///     requested events.
    /// - Returns: The watch, which lasts until it is cancelled.
    package func watch(
        _ descriptor: FileDescriptor,
        for interest: LoopWatch.Interest,
        ready: @escaping @Sendable (LoopWatch.Interest) -> Void
    ) -> LoopWatch {
        let watch = LoopWatch(descriptor, interest, ready)
        if isCurrent { thread.add(watch) } else { post { [thread] in thread.add(watch) } }
        return watch
    }

    /// Calls `ring` on the thread in the first pass at or after `deadline`, unless it is cancelled.
    ///
    /// Must be called on the loop's thread.
    package func alarm(at deadline: Instant, ring: @escaping @Sendable () -> Void) -> LoopAlarm {
        precondition(isCurrent, "alarms must be set on the loop's thread")
        let alarm = LoopAlarm(deadline, ring)
        thread.add(alarm)
        return alarm
    }

    package func enqueue(_ job: UnownedJob) {
        post { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { precondition(isCurrent, "this must run on the loop's thread") }
}
