import BLEWire
import Glibc
import Synchronization

/// The work of a loop, done by the thread that holds its lock.
///
/// Sendable because everything except the identity of that thread is protected by the lock. Exclusivity checks are off,
/// because it makes no outside calls.
final class LoopWork: @unchecked Sendable {
    /// The result of reading from the program at the other end.
    enum Reading: Equatable {
        case nothing
        /// Something was read and the turn was taken. If `isOutdated` is true, the waiting thread must wait for other
        /// things.
        case turn(isOutdated: Bool)
    }

    private let lock = LoopLock()
    /// The thread that holds the lock.
    private let identity = Atomic<UInt>(0)
    private var turn: () -> Instant? = { nil }
    /// Reads from a program at the other end, and returns whether there was something to read.
    @exclusivity(unchecked) private var attempt: () -> Bool = { false }
    /// Called before the next poll, when something was read this way.
    @exclusivity(unchecked) private var beforePolling: () -> Void = {}
    @exclusivity(unchecked) private var agenda = LoopAgenda()

    var isCurrent: Bool { identity.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Sets the turn, before the loop starts.
    func begin(turn: @escaping () -> Instant?) { self.turn = turn }

    // The caller holds the lock.

    func allowReading(_ attempt: @escaping () -> Bool, beforePolling: @escaping () -> Void) {
        self.attempt = attempt
        self.beforePolling = beforePolling
    }

    func add(_ watch: LoopWatch) { agenda.add(watch) }

    func add(_ alarm: LoopAlarm) { agenda.add(alarm) }

    // These take the lock.

    /// Runs posted closures, handles poll results, takes the turn, and determines what to poll next besides the wake-up
    /// descriptor; returns the end of the wait, or `nil` for none.
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
                ringAlarms(on: clock)
                takeTurn()
                return prepare(for: wakeDescriptor, into: &results, at: clock.now)
            }
        }
    }

    /// Runs posted closures and drops everything.
    func runLastPass(_ bodies: inout [@Sendable () -> Void]) {
        lock.withLock {
            asOwner { run(&bodies) }
            agenda = LoopAgenda()
            turn = { nil }
            attempt = { false }
            beforePolling = {}
        }
    }

    /// Determines what to poll first.
    func prepareFirst(for wakeDescriptor: Int32, into results: inout [pollfd], at now: Instant) -> Instant? {
        lock.withLock { prepare(for: wakeDescriptor, into: &results, at: now) }
    }

    /// Takes the turn; returns whether the waiting thread must wait for something else, or `nil` if the lock is held by
    /// another thread.
    func takeTurnIfFree() -> Bool? { lock.withLockIfAvailable { asOwner { takeTurnAndCompare() } } }

    /// Reads from the program at the other end; returns whether there was something to read.
    func readIfFree() -> Bool { lock.withLockIfAvailable { asOwner { attempt() } } ?? false }

    /// Reads from it, and takes the turn if there was something to read.
    func readAndTakeTurnIfFree() -> Reading {
        lock.withLockIfAvailable {
            asOwner { attempt() ? .turn(isOutdated: takeTurnAndCompare()) : .nothing }
        } ?? .nothing
    }

    /// Prepares for a poll after reading.
    func prepareToPoll() { lock.withLock { asOwner { beforePolling() } } }

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
        // Watches that are added meanwhile were not polled.
        let watches = agenda.watches
        for index in 0..<(results.count - 1) { watches[index].answered(results[index + 1].revents) }
    }

    private func ringAlarms(on clock: MonotonicClock) {
        let alarms = agenda.alarms
        guard !alarms.isEmpty else { return }
        let now = clock.now
        for alarm in alarms { alarm.ring(at: now) }
    }
}
