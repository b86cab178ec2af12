import BLEWire
import Dispatch

/// Who waits until the world is older: tasks that sleep by its clock, and what is to be called by its scheduler.
struct Sleepers {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// How somebody who waited is told that the time has come.
    enum Waker {
        case task(Continuation)
        case call(DispatchQueue, @Sendable () -> Void)

        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .call(let queue, let work): queue.async(execute: work)
            }
        }

        /// The queue on which something is done then, if it is known.
        var queue: DispatchQueue? { if case .call(let queue, _) = self { queue } else { nil } }
    }

    private struct Sleeper {
        let number: Int
        let due: Instant
        let waker: Waker
    }

    enum OnAdd {
        /// It is woken when its time comes, or when those have gone on who are awake.
        case asleep
        /// Its time has come already, and it does not wait for the world.
        case due
        /// Its task was cancelled before it fell asleep.
        case cancelled
    }

    /// How many may be called at once at one instant; more have to wait for a millisecond, so that who has himself
    /// called again and again does not stop the time.
    private static let mostAtOnce = 1_000

    /// In the order in which they are to be woken.
    private var asleep: [Sleeper] = []
    /// Those who are to go on now.
    private var awake: [Waker] = []
    /// The numbers of those that have yet to fall asleep, and were not cancelled.
    private var awaited: Set<Int> = []
    private var latest = 0
    /// How many were to be called at once at the last instant at which somebody was.
    private var calledAtOnce = (count: 0, at: Instant())

    /// When the first of them is to be woken.
    var deadline: Instant? { asleep.first?.due }

    /// Whether somebody is to go on now.
    var hasAwake: Bool { !awake.isEmpty }

    /// A number for one more.
    mutating func makeNumber() -> Int {
        latest += 1
        awaited.insert(latest)
        return latest
    }

    /// Lets somebody sleep until `due`; of those with the same time, who came first is woken first.
    ///
    /// A task whose time has come goes on by itself; what is to be called is called after those who are awake already,
    /// and before any time passes.
    mutating func add(_ number: Int, until due: Instant, at now: Instant, _ waker: Waker) -> OnAdd {
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
        asleep.insert(Sleeper(number: number, due: due, waker: waker), at: place)
        return .asleep
    }

    /// Takes out who was cancelled; one that has yet to fall asleep will not.
    mutating func cancel(_ number: Int) -> Waker? {
        awaited.remove(number)
        return asleep.firstIndex { $0.number == number }.map { asleep.remove(at: $0).waker }
    }

    /// Wakes those whose time has come.
    mutating func wake(at now: Instant) {
        while let first = asleep.first, first.due <= now { awake.append(asleep.removeFirst().waker) }
    }

    /// Takes out the first that is awake and has not gone on yet.
    mutating func takeAwake() -> Waker? { awake.isEmpty ? nil : awake.removeFirst() }
}
