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

    private let floor = Floor()
    /// The thread that holds the lock.
    private let identity = Atomic<UInt>(0)
    private var turn: () -> Instant? = { nil }
    /// Reads from a program at the other end, and returns whether there was something to read.
    @exclusivity(unchecked) private var attempt: () -> Bool = { false }
    /// Called before the next poll, when something was read this way.
    @exclusivity(unchecked) private var beforeAsking: () -> Void = {}
    @exclusivity(unchecked) private var agenda = LoopAgenda()

    var isCurrent: Bool { identity.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Sets the turn, before the loop starts.
    func begin(turn: @escaping () -> Instant?) { self.turn = turn }

    // These are called by whoever has the floor.

    func allowReading(_ attempt: @escaping () -> Bool, beforeAsking: @escaping () -> Void) {
        self.attempt = attempt
        self.beforeAsking = beforeAsking
    }

    func add(_ watch: LoopWatch) { agenda.add(watch) }

    func add(_ alarm: LoopAlarm) { agenda.add(alarm) }

    // And these take the floor.

    /// Runs posted closures, handles poll results, takes the turn, and determines what to poll next besides the wake-up
    /// descriptor; returns the end of the wait, or `nil` for none.
    func doRound(
        _ bodies: inout [@Sendable () -> Void],
        for bell: Int32,
        asking answers: inout [pollfd],
        on clock: MonotonicClock
    ) -> Instant? {
        floor.take {
            asOwner {
                run(&bodies)
                answerWatches(answers)
                ringAlarms(on: clock)
                takeTurn()
                return prepare(for: bell, asking: &answers, at: clock.now)
            }
        }
    }

    /// Runs posted closures and drops everything.
    func doLastRound(_ bodies: inout [@Sendable () -> Void]) {
        floor.take {
            asOwner { run(&bodies) }
            agenda = LoopAgenda()
            turn = { nil }
            attempt = { false }
            beforeAsking = {}
        }
    }

    /// Determines what to poll first.
    func prepareFirst(for bell: Int32, asking answers: inout [pollfd], at now: Instant) -> Instant? {
        floor.take { prepare(for: bell, asking: &answers, at: now) }
    }

    /// Takes the turn; returns whether the waiting thread must wait for something else, or `nil` if the lock is held by
    /// another thread.
    func takeTurnIfFree() -> Bool? { floor.takeIfFree { asOwner { takeTurnAndCompare() } } }

    /// Reads from the program at the other end; returns whether there was something to read.
    func readIfFree() -> Bool { floor.takeIfFree { asOwner { attempt() } } ?? false }

    /// Reads from it, and takes the turn if there was something to read.
    func readAndTakeTurnIfFree() -> Reading {
        floor.takeIfFree {
            asOwner { attempt() ? .turn(isOutdated: takeTurnAndCompare()) : .nothing }
        } ?? .nothing
    }

    /// Prepares for a poll after reading.
    func prepareToAsk() { floor.take { asOwner { beforeAsking() } } }

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

    private func prepare(for bell: Int32, asking answers: inout [pollfd], at now: Instant) -> Instant? {
        agenda.prepare(for: bell, at: now, asking: &answers)
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

    private func answerWatches(_ answers: [pollfd]) {
        if let crowd = agenda.crowd { return answers[1].revents == 0 ? () : crowd.answer() }
        // What is added meanwhile was not asked about.
        let watches = agenda.watches
        for index in 0..<(answers.count - 1) { watches[index].answered(answers[index + 1].revents) }
    }

    private func ringAlarms(on clock: MonotonicClock) {
        let alarms = agenda.alarms
        guard !alarms.isEmpty else { return }
        let now = clock.now
        for alarm in alarms { alarm.ring(at: now) }
    }
}
