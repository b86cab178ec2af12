import BLEWire
import Dispatch

/// The tasks and calls that wait until the world reaches a given age.
struct TimerQueue {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// A task or call that waits for an age of the world.
    enum Waiter {
        case task(Continuation)
        case call(DispatchQueue, @Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .call(let queue, let work): queue.async(execute: work)
            }
        }

        /// The queue on which the call is made; `nil` for a task.
        var queue: DispatchQueue? { if case .call(let queue, _) = self { queue } else { nil } }
    }

    private struct Entry {
        let number: Int
        let due: Instant
        let waker: Waiter
    }

    enum OnAdd {
        /// The task or call waits until it is due.
        case waiting
        /// The task is already due, so it does not wait.
        case due
        /// The task or call was cancelled before it started to wait.
        case cancelled
    }

    /// The maximum number of immediate calls at one instant: calls whose time has already come when they are added.
    ///
    /// Further calls wait for a millisecond, so that a call that schedules itself again and again does not stop virtual
    /// time.
    private static let mostImmediateCalls = 1_000

    /// The waiting tasks and calls, in the order in which they will be woken.
    private var waiting: [Entry] = []
    /// The tasks and calls that have been woken and can continue now.
    private var ready: [Waiter] = []
    /// The numbers from ``makeNumber()`` that have been neither passed to ``add(_:until:at:_:)`` nor cancelled yet.
    private var unusedNumbers: Set<Int> = []
    private var latest = 0
    /// The number of immediate calls at the last instant that had any, and that instant.
    private var immediateCalls = (count: 0, at: Instant())

    /// The time at which the next task or call is woken; `nil` if none is waiting.
    var deadline: Instant? { waiting.first?.due }

    /// True if a task or call can continue now.
    var hasReady: Bool { !ready.isEmpty }

    /// Returns a new number, which identifies a task or call.
    mutating func makeNumber() -> Int {
        latest += 1
        unusedNumbers.insert(latest)
        return latest
    }

    /// Adds a task or call that waits until `due`.
    ///
    /// Tasks and calls with the same time are woken in the order in which they were added.
    ///
    /// A task whose time has already come continues immediately. A call whose time has already come is made after the
    /// tasks and calls that are already awake, and before any time passes.
    mutating func add(_ number: Int, until due: Instant, at now: Instant, _ waker: Waiter) -> OnAdd {
        guard unusedNumbers.remove(number) != nil else { return .cancelled }
        var due = due
        if due <= now {
            guard case .call = waker else { return .due }
            if immediateCalls.at != now { immediateCalls = (0, now) }
            immediateCalls.count += 1
            guard immediateCalls.count > Self.mostImmediateCalls else {
                ready.append(waker)
                return .waiting
            }
            due = now + .milliseconds(1)
        }
        let place = waiting.firstIndex { $0.due > due } ?? waiting.endIndex
        waiting.insert(Entry(number: number, due: due, waker: waker), at: place)
        return .waiting
    }

    /// Cancels a task or call, even if it has not started to wait yet.
    ///
    /// Returns the task or call if it was waiting; otherwise `nil`.
    mutating func cancel(_ number: Int) -> Waiter? {
        unusedNumbers.remove(number)
        return waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0).waker }
    }

    /// Wakes the tasks and calls whose time has come.
    mutating func wake(at now: Instant) {
        while let first = waiting.first, first.due <= now { ready.append(waiting.removeFirst().waker) }
    }

    /// Removes and returns the next task or call that has been woken; `nil` if there is none.
    mutating func takeReady() -> Waiter? { ready.isEmpty ? nil : ready.removeFirst() }
}
