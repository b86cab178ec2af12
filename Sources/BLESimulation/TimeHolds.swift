import BLERuntime
import Dispatch

/// The holds that stop virtual time.
///
/// Each hold is for a call that an app is about to receive on a thread of its own.
///
/// Such a thread may never run, so a hold that is not released within one or two seconds of real time is ignored.
final class TimeHolds: Sendable {
    /// The minimum real time that a thread is given to release its hold.
    private static let releaseTimeout = DispatchTimeInterval.seconds(1)

    private struct Waiter {
        let number: Int
        let done: @Sendable () -> Void
    }

    private struct State {
        /// The number of holds that have been added so far, including those that have been released.
        var count = 0
        /// The holds that the world waits for.
        var active: Set<Int> = []
        var waiter: Waiter?
        var waiterCount = 0
        /// True while a timer runs that will drop the holds.
        var isTimed = false

        mutating func takeWaiter() -> Waiter? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "corebluetooth.world.holds")

    /// The number of holds that have been added so far, including those that have been released.
    var count: Int { state.withLock { $0.count } }

    /// Adds a hold, which lasts until the returned object is released.
    func add() -> TimeHold {
        let number = state.withLock { state in
            state.count += 1
            state.active.insert(state.count)
            return state.count
        }
        return TimeHold { [weak self] in self?.remove(number) }
    }

    /// Calls `done` immediately if there are no holds; otherwise on some thread, when the last hold is released or
    /// ignored.
    func wait(done: @escaping @Sendable () -> Void) {
        let (isFree, isTimed) = state.withLock { state in
            guard !state.active.isEmpty else { return (true, true) }
            precondition(state.waiter == nil, "only one task at a time may advance a world")
            state.waiterCount += 1
            state.waiter = Waiter(number: state.waiterCount, done: done)
            defer { state.isTimed = true }
            return (false, state.isTimed)
        }
        if isFree { done() }
        if !isTimed { callLater() }
    }

    private func remove(_ hold: Int) {
        let waiter = state.withLock { state in
            state.active.remove(hold)
            return state.active.isEmpty ? state.takeWaiter() : nil
        }
        waiter?.done()
    }

    /// Drops all holds after ``releaseTimeout`` if the task that is waiting now is still waiting then.
    ///
    /// If another task is waiting then, gives that task a further ``releaseTimeout``, under the same rule.
    private func callLater() {
        let number = state.withLock { $0.waiterCount }
        queue.asyncAfter(deadline: .now() + Self.releaseTimeout) { [weak self] in self?.timeOut(number) }
    }

    private func timeOut(_ number: Int) {
        let (waiter, isTimed): (Waiter?, Bool) = state.withLock { state in
            guard let waiter = state.waiter else {
                state.isTimed = false
                return (nil, false)
            }
            guard waiter.number <= number else { return (nil, true) }
            state.active = []
            state.isTimed = false
            return (state.takeWaiter(), false)
        }
        if isTimed { callLater() }
        waiter?.done()
    }
}
