package import BLEWire
import Dispatch

/// A thread that waits for file descriptors, other threads' commands and the next deadline in one system call.
///
/// Each pass of the loop waits, runs posted closures, handles ready file descriptors, fires due alarms, and then calls
/// the *turn* once, a closure of the loop's owner. While the loop's thread waits, another thread can take a turn in its
/// place (``takeTurnHere()``). Actors may use a loop as their executor. The thread ends when the loop is released.
package final class EventLoop: SerialExecutor {
    /// The clock that this loop's deadlines refer to.
    package let clock = MonotonicClock()
    let thread: LoopThread

    /// Creates a loop; call ``start(turn:)`` to start it.
    ///
    /// The first 15 octets of `name` become the thread's name.
    package init(_ name: String) { thread = LoopThread(name: name, clock: clock) }

    deinit { thread.stop() }

    /// Starts the thread.
    ///
    /// Call this only once.
    ///
    /// - Parameter turn: Called at the end of each pass, even if nothing was due; returns the time of the next
    ///   deadline, or `nil` if there is none.
    package func start(turn: @escaping @Sendable () -> Instant? = { nil }) { thread.start(turn: turn) }

    /// Runs `body` on the loop's thread in the next pass, after closures that were posted earlier.
    package func post(_ body: @escaping @Sendable () -> Void) { thread.post(body) }

    /// Makes the loop start a pass soon.
    ///
    /// Can be called on any thread.
    package func wake() { thread.wake() }

    /// Takes the owner's turn on the calling thread, if the loop is waiting and has not been woken.
    ///
    /// This saves two thread switches, but the caller is busy for the duration of the turn. Code in the turn runs as if
    /// on the loop's thread (``isCurrent``).
    ///
    /// - Returns: True if the turn was taken; otherwise the caller can ``wake()`` the loop.
    package func takeTurnHere() -> Bool { thread.takeTurnHere() }

    /// Runs `body` on the loop's thread, and waits until it has returned.
    ///
    /// If the caller is on the loop's thread, runs `body` immediately.
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

    /// True if the calling thread is the loop's thread, or runs the loop's work in its place.
    package var isCurrent: Bool { thread.isCurrent }

    /// Allows the loop's thread to poll for a short time before it sleeps, for responses from the program at the other
    /// end of a socket (``BusyPolling``).
    ///
    /// Must be called on the loop's thread.
    package func allowPolling() {
        precondition(isCurrent, "allowPolling() must be called on the loop's thread")
        thread.allowPolling()
    }

    /// Watches a file descriptor, starting with the next pass.
    ///
    /// - Parameters:
    ///   - descriptor: An open file, which must stay open until the watch is cancelled.
    ///   - interest: The events to wait for at first.
    ///   - ready: Called on the loop's thread with the events that occurred. An error or the end of a stream is
    ///     reported as all events in `interest`.
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

    /// Calls `handler` on the loop's thread in the first pass at or after `deadline`, unless the alarm is cancelled.
    ///
    /// Must be called on the loop's thread.
    package func alarm(at deadline: Instant, handler: @escaping @Sendable () -> Void) -> LoopAlarm {
        precondition(isCurrent, "alarms must be set on the loop's thread")
        let alarm = LoopAlarm(deadline, handler)
        thread.add(alarm)
        return alarm
    }

    package func enqueue(_ job: UnownedJob) {
        post { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { precondition(isCurrent, "this must run on the loop's thread") }
}
