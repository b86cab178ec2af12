import BLEWire
import Dispatch

/// The tasks and calls that wait for an age of the world.
struct TimerQueue {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// The way in which a waiting task or call continues.
    enum Waiter {
        case task(Continuation)
        case call(DispatchQueue, @Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .call(let queue, let work): queue.async(execute: work)
            }
        }

        /// The queue of the call, if there is one.
        var queue: DispatchQueue? { if case .call(let queue, _) = self { queue } else { nil } }
    }

    private struct Entry {
        let number: Int
        let due: Instant
        let waker: Waiter
    }

    enum OnAdd {
        /// It is woken at its time, after those that were woken before.
        case asleep
        /// Its time has already come; it does not wait.
        case due
        /// Its task was cancelled before it started to wait.
        case cancelled
    }

    /// The maximum number of immediate calls at one instant.
    ///
    /// Further ones wait for a millisecond, so that a call that schedules itself again and again does not stop the
    /// time.
    private static let mostAtOnce = 1_000

    /// In the order in which they are woken.
    private var asleep: [Entry] = []
    /// Those that are to continue now.
    private var awake: [Waiter] = []
    /// The numbers of those that have not started to wait and were not cancelled.
    private var awaited: Set<Int> = []
    private var latest = 0
    /// The number of immediate calls at the last instant with such calls.
    private var calledAtOnce = (count: 0, at: Instant())

    /// The time at which the first is woken.
    var deadline: Instant? { asleep.first?.due }

    /// True if any is to continue now.
    var hasAwake: Bool { !awake.isEmpty }

    /// Returns a new number.
    mutating func makeNumber() -> Int {
        latest += 1
        awaited.insert(latest)
        return latest
    }

    /// Adds a task or call that waits until `due`.
    ///
    /// Those with the same time are woken in order.
    ///
    /// A task whose time has come continues immediately; a call is made after those that were woken before, and before
    /// any time passes.
    mutating func add(_ number: Int, until due: Instant, at now: Instant, _ waker: Waiter) -> OnAdd {
        guard awaited.remove(number) != nil else { return .cancelled }
        var due = due
        if due <= now {
            guard case .call = waker else { return .due }
            if calledAtOnce.at != now { calledAtOnce = (0, now) }
            calledAtOnce.count += 1
            guard calledAtOnce.count > Self.mostAtOnce else {
                awake.append(waker)
                return .asleep
            }
            due = now + .milliseconds(1)
        }
        let place = asleep.firstIndex { $0.due > due } ?? asleep.endIndex
        asleep.insert(Entry(number: number, due: due, waker: waker), at: place)
        return .asleep
    }

    /// Removes a cancelled one; one that has not started to wait will not.
    mutating func cancel(_ number: Int) -> Waiter? {
        awaited.remove(number)
        return asleep.firstIndex { $0.number == number }.map { asleep.remove(at: $0).waker }
    }

    /// Wakes those whose time has come.
    mutating func wake(at now: Instant) {
        while let first = asleep.first, first.due <= now { awake.append(asleep.removeFirst().waker) }
    }

    /// Removes and returns the first one that was woken.
    mutating func takeAwake() -> Waiter? { awake.isEmpty ? nil : awake.removeFirst() }
}
