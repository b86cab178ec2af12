import BLEWire
import Glibc
import Synchronization

/// What belongs to a loop, done by one thread at a time: whoever has the floor.
///
/// Sendable because everything but the identity of that thread is used by whoever has the floor. It is not looked at
/// whether somebody uses what is used already: it calls nobody.
final class LoopWork: @unchecked Sendable {
    /// What came of reading from the program at the other end.
    enum Reading: Equatable {
        case nothing
        /// The turn that it called for was taken; the loop's thread, which waits, may have to wait for other things.
        case turn(isOutdated: Bool)
    }

    private let floor = Floor()
    /// The thread that has the floor.
    private let identity = Atomic<UInt>(0)
    private var turn: () -> Instant? = { nil }
    /// Reads from a program at the other end, and says whether there was something to read.
    @exclusivity(unchecked) private var attempt: () -> Bool = { false }
    /// Called when something has been read so, before the system is asked.
    @exclusivity(unchecked) private var beforeAsking: () -> Void = {}
    @exclusivity(unchecked) private var agenda = LoopAgenda()

    var isCurrent: Bool { identity.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Says what the turn is, before the loop starts.
    func begin(turn: @escaping () -> Instant?) { self.turn = turn }

    // These are called by whoever has the floor.

    func allowReading(_ attempt: @escaping () -> Bool, beforeAsking: @escaping () -> Void) {
        self.attempt = attempt
        self.beforeAsking = beforeAsking
    }

    func add(_ watch: LoopWatch) { agenda.add(watch) }

    func add(_ alarm: LoopAlarm) { agenda.add(alarm) }

    // And these take the floor.

    /// Runs what was posted, handles what the system says of what was asked, takes the turn, and finds out what to ask
    /// next beside the descriptor `bell`; returns until when to wait, or for ever.
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

    /// Runs what was posted, and forgets everything.
    func doLastRound(_ bodies: inout [@Sendable () -> Void]) {
        floor.take {
            asOwner { run(&bodies) }
            agenda = LoopAgenda()
            turn = { nil }
            attempt = { false }
            beforeAsking = {}
        }
    }

    /// Finds out what to ask at first.
    func prepareFirst(for bell: Int32, asking answers: inout [pollfd], at now: Instant) -> Instant? {
        floor.take { prepare(for: bell, asking: &answers, at: now) }
    }

    /// Takes the turn; returns whether the thread of the loop, which waits, would have to wait for something else, or
    /// `nil` if somebody has the floor.
    func takeTurnIfFree() -> Bool? { floor.takeIfFree { asOwner { takeTurnAndCompare() } } }

    /// Reads from the program at the other end; returns whether there was something to read.
    func readIfFree() -> Bool { floor.takeIfFree { asOwner { attempt() } } ?? false }

    /// Reads from it, and takes the turn if there was something to read.
    func readAndTakeTurnIfFree() -> Reading {
        floor.takeIfFree {
            asOwner { attempt() ? .turn(isOutdated: takeTurnAndCompare()) : .nothing }
        } ?? .nothing
    }

    /// Gets ready for the system to be asked after reading.
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
