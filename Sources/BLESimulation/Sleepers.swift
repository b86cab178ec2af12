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
        /// It is woken when its time comes.
        case asleep
        /// Its time has come already.
        case due
        /// Its task was cancelled before it fell asleep.
        case cancelled
    }

    /// In the order in which they are to be woken.
    private var asleep: [Sleeper] = []
    /// Those who are to go on now.
    private var awake: [Waker] = []
    /// The numbers of those that have yet to fall asleep, and were not cancelled.
    private var awaited: Set<Int> = []
    private var latest = 0

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
    mutating func add(_ number: Int, until due: Instant, at now: Instant, _ waker: Waker) -> OnAdd {
        guard awaited.remove(number) != nil else { return .cancelled }
        guard due > now else { return .due }
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
