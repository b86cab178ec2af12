import BLEWire
import Glibc
import Synchronization

/// The work of a loop, done by the thread that holds the loop's lock.
///
/// Sendable because the lock protects everything except the identity of that thread. Exclusivity checks are off for
/// some properties, because nothing that is called during an access to one of them accesses it again.
final class LoopWork: @unchecked Sendable {
    private let lock = LoopLock()
    /// The thread that holds the lock; 0 if none does.
    private let identity = Atomic<UInt>(0)
    private var turn: () -> Instant? = { nil }
    @exclusivity(unchecked) private var agenda = LoopAgenda()

    var isCurrent: Bool { identity.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Sets the owner's turn.
    ///
    /// Must be called before the loop starts.
    func begin(turn: @escaping () -> Instant?) { self.turn = turn }

    // The caller of these methods holds the lock.

    func add(_ watch: LoopWatch) { agenda.add(watch) }

    func add(_ alarm: LoopAlarm) { agenda.add(alarm) }

    // These methods take the lock.

    /// Runs posted closures, handles poll results, fires due alarms, takes the owner's turn, and prepares the next
    /// poll.
    ///
    /// Returns the time at which the next wait ends, or `nil` if it has no limit.
    func runPass(
        _ bodies: inout [@Sendable () -> Void],
        for wakeDescriptor: Int32,
        into results: inout [pollfd],
        on clock: MonotonicClock
    ) -> Instant? {
        lock.withLock {
            asOwner {
                run(&bodies)
                deliverEvents(results)
                fireAlarms(on: clock)
                takeTurn()
                return prepare(for: wakeDescriptor, into: &results, at: clock.now)
            }
        }
    }

    /// Runs the posted closures, then drops all watches, all alarms, and the closures of the loop's owner.
    func runLastPass(_ bodies: inout [@Sendable () -> Void]) {
        lock.withLock {
            asOwner { run(&bodies) }
            agenda = LoopAgenda()
            turn = { nil }
        }
    }

    /// Prepares the first poll; returns the time at which the wait ends, or `nil` if it has no limit.
    func prepareFirst(for wakeDescriptor: Int32, into results: inout [pollfd], at now: Instant) -> Instant? {
        lock.withLock { prepare(for: wakeDescriptor, into: &results, at: now) }
    }

    /// Takes the owner's turn; returns whether the loop's thread must be woken.
    ///
    /// The thread must be woken if the turn has changed the things to wait for.
    ///
    /// Returns `nil`, and does nothing, if another thread holds the lock.
    func takeTurnIfFree() -> Bool? { lock.withLockIfAvailable { asOwner { takeTurnAndCompare() } } }

    private func asOwner<Result>(_ body: () -> Result) -> Result {
        identity.store(UInt(pthread_self()), ordering: .relaxed)
        defer { identity.store(0, ordering: .relaxed) }
        return body()
    }

    private func run(_ bodies: inout [@Sendable () -> Void]) {
        guard !bodies.isEmpty else { return }
        for body in bodies { body() }
        bodies.removeAll(keepingCapacity: true)
    }

    private func prepare(for wakeDescriptor: Int32, into results: inout [pollfd], at now: Instant) -> Instant? {
        agenda.prepare(for: wakeDescriptor, at: now, into: &results)
        return agenda.until
    }

    private func takeTurn() {
        let due = turn()
        agenda.due = due
    }

    private func takeTurnAndCompare() -> Bool {
        takeTurn()
        return agenda.waitsForOther()
    }

    private func deliverEvents(_ results: [pollfd]) {
        if let epollSet = agenda.epollSet { return results[1].revents == 0 ? () : epollSet.deliverEvents() }
        // Watches that are added during these calls were not polled.
        let watches = agenda.watches
        for index in 0..<(results.count - 1) { watches[index].answered(results[index + 1].revents) }
    }

    private func fireAlarms(on clock: MonotonicClock) {
        let alarms = agenda.alarms
        guard !alarms.isEmpty else { return }
        let now = clock.now
        for alarm in alarms { alarm.fire(at: now) }
    }
}
