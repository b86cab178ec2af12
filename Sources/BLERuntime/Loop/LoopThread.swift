import BLEWire
import Glibc
import LinuxCalls
import Synchronization

/// The thread of a loop and what it works on.
///
/// Sendable because everything but the inbox and the bell is used by whoever has the floor: the thread, but for when it
/// waits. Neither is it looked at whether somebody uses what is used already: it calls nobody.
final class LoopThread: @unchecked Sendable {
    /// What other threads leave here.
    private struct Inbox {
        var bodies: [@Sendable () -> Void] = []
        /// Whether a round must begin.
        var isWoken = false
        /// Whether the thread waits, so that others may take a turn.
        var isWaiting = false
        /// Whether the thread is about to sleep, so that it must be rung for.
        var isAsleep = false
        var isStopped = false
    }

    private let name: String
    private let clock: MonotonicClock
    private let inbox = Locked(Inbox())
    /// Whoever has it does what belongs to the loop.
    private let floor = Floor()
    /// Written to when the thread waits and must not.
    private let bell: Descriptor
    /// The thread that has the floor.
    private let identity = Atomic<UInt>(0)

    private var turn: () -> Instant? = { nil }
    @exclusivity(unchecked) private var agenda = LoopAgenda()
    /// Empty but while what was posted runs.
    @exclusivity(unchecked) private var bodies: [@Sendable () -> Void] = []
    private var mayWait = false
    /// Whether the system was asked in this round, or the one before.
    private var hasAsked = true
    /// What the system is asked about, with its answers, which only the thread itself uses.
    @exclusivity(unchecked) private var answers: [pollfd] = []
    /// Until when the thread waits, or for ever.
    private var until: Instant?
    private var polling = BusyPolling()
    /// Reads from a program at the other end, and says whether there was something to read.
    @exclusivity(unchecked) private var attempt: () -> Bool = { false }
    /// Called when something has been read so, before the system is asked.
    @exclusivity(unchecked) private var beforeAsking: () -> Void = {}
    private var hasRead = false

    init(name: String, clock: MonotonicClock) {
        self.name = name
        self.clock = clock
        let raw = eventfd(0, O_NONBLOCK | O_CLOEXEC)
        precondition(raw >= 0, "the process has no descriptor left for a bell")
        bell = Descriptor(raw)
    }

    var isCurrent: Bool { identity.load(ordering: .relaxed) == UInt(pthread_self()) }

    func start(turn: @escaping () -> Instant?) {
        self.turn = turn
        // An app's signal handlers run on the app's threads.
        var all = sigset_t(), before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            nil,
            { context in
                if let context { Unmanaged<LoopThread>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            Unmanaged.passRetained(self).toOpaque()
        )
        precondition(failure == 0, "the system has a thread for the host")
        pthread_detach(thread)
    }

    func post(_ body: @escaping @Sendable () -> Void) { tell { $0.bodies.append(body) } }

    func wake() { tell { _ in } }

    func stop() { tell { $0.isStopped = true } }

    private func tell(_ change: (inout Inbox) -> Void) {
        let mustRing = inbox.withLock { inbox in
            change(&inbox)
            inbox.isWoken = true
            inbox.isWaiting = false
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        guard mustRing else { return }
        var count: UInt64 = 1
        write(bell.raw, &count, MemoryLayout<UInt64>.size)
    }

    func allowPolling(_ attempt: @escaping () -> Bool, beforeAsking: @escaping () -> Void) {
        polling.isAllowed = true
        self.attempt = attempt
        self.beforeAsking = beforeAsking
    }

    func add(_ watch: LoopWatch) { agenda.add(watch) }

    func add(_ alarm: LoopAlarm) { agenda.add(alarm) }

    /// Has the calling thread take the turn of the owner, if the thread of the loop waits; returns whether it did.
    func takeTurnHere() -> Bool {
        guard inbox.withLock({ $0.isWaiting && !$0.isWoken }) else { return false }
        let isOutdated = floor.takeIfFree {
            asOwner {
                takeTurn()
                return agenda.waitsForOther
            }
        }
        guard let isOutdated else { return false }
        if isOutdated { wake() }
        return true
    }

    private func asOwner<Result>(_ body: () -> Result) -> Result {
        identity.store(UInt(pthread_self()), ordering: .relaxed)
        defer { identity.store(0, ordering: .relaxed) }
        return body()
    }

    private func run() {
        _ = pthread_setname_np(pthread_self(), String(name.prefix(15)))
        floor.take { prepare() }
        while round() {}
        floor.take {
            agenda = LoopAgenda()
            turn = { nil }
            attempt = { false }
            beforeAsking = {}
        }
    }

    /// Waits, then does all that there is to do; returns whether the thread goes on.
    private func round() -> Bool {
        // Who was woken meanwhile need not ask the system, every other time.
        hasAsked = mayWait || !hasAsked
        if hasAsked { wait() } else { forgetAnswers() }
        return floor.take { asOwner { work() } }
    }

    private func work() -> Bool {
        var bodies: [@Sendable () -> Void] = []
        let isStopped = inbox.withLock { inbox in
            inbox.isWaiting = false
            inbox.isAsleep = false
            inbox.isWoken = false
            if !inbox.bodies.isEmpty {
                swap(&bodies, &self.bodies)
                swap(&inbox.bodies, &bodies)
            }
            return inbox.isStopped
        }
        if !bodies.isEmpty {
            for body in bodies { body() }
            bodies.removeAll(keepingCapacity: true)
            swap(&bodies, &self.bodies)
        }
        guard !isStopped else { return false }
        answerWatches()
        ringAlarms()
        takeTurn()
        prepare()
        return true
    }

    private func takeTurn() {
        let due = turn()
        agenda.due = due
    }

    /// Finds out what to wait for.
    private func prepare() {
        agenda.prepare(for: bell.raw, at: clock.now, asking: &answers)
        until = agenda.until
        let isPolling = polling.isDue
        mayWait = inbox.withLock { inbox in
            inbox.isWaiting = !inbox.isWoken
            inbox.isAsleep = inbox.isWaiting && !isPolling
            return inbox.isWaiting
        }
    }

    private func forgetAnswers() { for index in answers.indices { answers[index].revents = 0 } }

    /// Asks the system about all descriptors, and waits unless somebody has woken the loop.
    private func wait() {
        if !mayWait {
            ask(for: 0)
        } else if polling.isDue {
            if !poll() { sleepUnlessWoken() }
        } else {
            sleep()
        }
        guard answers[0].revents != 0 else { return }
        var count: UInt64 = 0
        read(bell.raw, &count, MemoryLayout<UInt64>.size)
        // Whoever rang may have more to say, and where processors are few that is said first.
        sched_yield()
    }

    /// Waits for an answer without using the processor.
    private func sleep() {
        let begun = until == nil && !polling.isAllowed ? Instant() : clock.now
        ask(for: until.map { max(0, $0.nanoseconds - begun.nanoseconds) })
        if polling.isAllowed { polling.slept(from: begun, to: clock.now) }
    }

    /// Does the same after asking, when nobody had to ring.
    private func sleepUnlessWoken() {
        let isWoken = inbox.withLock { inbox in
            inbox.isAsleep = !inbox.isWoken
            return inbox.isWoken
        }
        if isWoken { ask(for: 0) } else { sleep() }
    }

    /// Asks again and again for a moment, and lets others have the processor between; returns whether an answer came.
    private func poll() -> Bool {
        let begun = clock.now, end = BusyPolling.end(from: begun)
        if let until, until < end { return false }
        // What the program says is read without a question, but nothing else is.
        let asksForMore = answers.count != 2 || answers[1].events != LoopWatch.Interest.reading.rawValue
        var last = begun, questions = 0
        repeat {
            let isAnswered = look() || asksForMore && questions % BusyPolling.thoroughness == 0 && ask(for: 0)
            if isAnswered { polling.asked(.answered) }
            // Whoever woke the loop may have more to say, too.
            if !isAnswered || inbox.withLock({ $0.isWoken }) { sched_yield() }
            if isAnswered { return true }
            questions += 1
            let now = clock.now
            if now > BusyPolling.end(from: last) {
                polling.asked(.crowdedOut)
                return false
            }
            last = now
        } while last < end
        polling.asked(.unanswered)
        return false
    }

    /// Looks whether somebody woke the loop, and reads what the program at the other end has said.
    private func look() -> Bool {
        if inbox.withLock({ $0.isWoken }) { return true }
        guard floor.takeIfFree({ asOwner { attempt() } }) ?? false else { return false }
        hasRead = true
        return true
    }

    /// Has the system answer within so many nanoseconds, or without end; returns whether it had something to say.
    @discardableResult private func ask(for nanoseconds: Int64?) -> Bool {
        if hasRead {
            hasRead = false
            floor.take { asOwner { beforeAsking() } }
        }
        guard let nanoseconds else { return ppoll(&answers, UInt(answers.count), nil, nil) > 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        return ppoll(&answers, UInt(answers.count), &time, nil) > 0
    }

    private func answerWatches() {
        if let crowd = agenda.crowd { return answers[1].revents == 0 ? () : crowd.answer() }
        // What is added meanwhile was not asked about.
        let watches = agenda.watches, answers = self.answers
        for index in 0..<(answers.count - 1) { watches[index].answered(answers[index + 1].revents) }
    }

    private func ringAlarms() {
        let alarms = agenda.alarms
        guard !alarms.isEmpty else { return }
        let now = clock.now
        for alarm in alarms { alarm.ring(at: now) }
    }
}
