package import BLEWire
@preconcurrency package import Dispatch

/// A timer on one queue, set to one deadline at a time.
///
/// Owners set it after every turn. Most deadlines only move away, so the alarm keeps the earliest time that it was
/// given, rings once too early, and is then set anew: a turn costs a system call only when its deadline comes closer.
/// Sendable because only its queue sets it and hears it ring; Dispatch's own timers are not marked so.
package final class Alarm: @unchecked Sendable {
    private let source: any DispatchSourceTimer
    private let clock: MonotonicClock
    private var armed: Instant?

    /// Creates an alarm that never rings until it is set; `clock` is what its deadlines are told in.
    package init(queue: DispatchQueue, clock: MonotonicClock) {
        source = DispatchSource.makeTimerSource(queue: queue)
        self.clock = clock
    }

    deinit { source.cancel() }

    /// Starts listening: `ring` is called on the queue at the deadline, and now and then before.
    package func start(ring: @escaping @Sendable () -> Void) {
        source.setEventHandler { [weak self] in
            self?.armed = nil
            ring()
        }
        source.activate()
    }

    /// Rings at `deadline` at the latest; need not ring at all if it is `nil`.
    package func set(_ deadline: Instant?) {
        guard let deadline, armed.map({ deadline < $0 }) ?? true else { return }
        armed = deadline
        let nanoseconds = max(0, deadline.nanoseconds - clock.now.nanoseconds)
        source.schedule(deadline: .now() + .nanoseconds(Int(nanoseconds)), leeway: .nanoseconds(0))
    }

    /// Rings no more.
    package func cancel() { source.cancel() }
}
