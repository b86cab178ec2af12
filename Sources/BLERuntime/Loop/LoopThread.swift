import BLEWire
import Glibc
import LinuxCalls
import Synchronization

/// The thread of a loop and what it works on.
///
/// Sendable because everything but the inbox and the bell is used by whoever has the floor: the thread, but for when it
/// waits.
final class LoopThread: @unchecked Sendable {
    /// What other threads leave here.
    private struct Inbox {
        var bodies: [@Sendable () -> Void] = []
        /// Whether a round must begin.
        var isWoken = false
        /// Whether the thread is about to wait, so that it must be rung for.
        var isWaiting = false
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
    private var due: Instant?
    private var watches: [LoopWatch] = []
    /// The earliest first.
    private var alarms: [LoopAlarm] = []
    private var bodies: [@Sendable () -> Void] = []
    /// What the system is asked about, or was when the thread began to wait.
    private var questions: [pollfd] = []
    /// Until when the thread waits, or for ever.
    private var until: Instant?
    private var mayWait = false
    /// Questions with what the system answered, which only the thread itself uses.
    private var answers: [pollfd] = []

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
            defer { inbox.isWaiting = false }
            return inbox.isWaiting
        }
        guard mustRing else { return }
        var count: UInt64 = 1
        write(bell.raw, &count, MemoryLayout<UInt64>.size)
    }

    func add(_ watch: LoopWatch) { watches.append(watch) }

    func add(_ alarm: LoopAlarm) {
        alarms.insert(alarm, at: alarms.firstIndex { alarm.deadline < $0.deadline } ?? alarms.endIndex)
    }

    /// Has the calling thread take the turn of the owner, if the thread of the loop waits; returns whether it did.
    func takeTurnHere() -> Bool {
        guard inbox.withLock({ $0.isWaiting && !$0.isWoken }) else { return false }
        let isOutdated = floor.takeIfFree {
            asOwner {
                due = turn()
                return waitsForOther
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
            watches = []
            alarms = []
            turn = { nil }
        }
    }

    /// Waits, then does all that there is to do; returns whether the thread goes on.
    private func round() -> Bool {
        wait()
        return floor.take { asOwner { work() } }
    }

    private func work() -> Bool {
        let isStopped = inbox.withLock { inbox in
            inbox.isWaiting = false
            inbox.isWoken = false
            swap(&inbox.bodies, &bodies)
            return inbox.isStopped
        }
        for body in bodies { body() }
        bodies.removeAll(keepingCapacity: true)
        guard !isStopped else { return false }
        answerWatches()
        ringAlarms()
        due = turn()
        prepare()
        return true
    }

    /// Finds out what to wait for.
    private func prepare() {
        watches.removeAll { $0.isCancelled }
        alarms.removeAll { $0.isOver }
        questions.removeAll(keepingCapacity: true)
        questions.append(pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0))
        for watch in watches { questions.append(watch.question) }
        // A deadline that was given up is kept: the next one is often no earlier, so that another thread that sets it
        // need not ring, and waking early does no harm.
        let now = clock.now, deadline = nextDeadline
        if let until, until > now, deadline.map({ $0 > until }) ?? true {} else { until = deadline }
        mayWait = inbox.withLock { inbox in
            inbox.isWaiting = !inbox.isWoken
            return inbox.isWaiting
        }
    }

    private var nextDeadline: Instant? {
        switch (due, alarms.first?.deadline) {
        case (let turn?, let alarm?): min(turn, alarm)
        case (let turn, let alarm): turn ?? alarm
        }
    }

    /// Whether the thread, which waits, would have to wait for something else.
    private var waitsForOther: Bool {
        if let deadline = nextDeadline, until.map({ deadline < $0 }) ?? true { return true }
        guard watches.count == questions.count - 1 else { return true }
        return watches.indices.contains { index in
            let question = watches[index].question, asked = questions[index + 1]
            return question.fd != asked.fd || question.events != asked.events
        }
    }

    /// Asks the system about all descriptors, and waits unless somebody has woken the loop.
    private func wait() {
        answers.removeAll(keepingCapacity: true)
        answers.append(contentsOf: questions)
        if mayWait, until == nil {
            ppoll(&answers, UInt(answers.count), nil, nil)
        } else {
            let now = clock.now, end = mayWait ? max(now, until ?? now) : now
            let wait = end.nanoseconds - now.nanoseconds
            var time = timespec(tv_sec: Int(wait / 1_000_000_000), tv_nsec: Int(wait % 1_000_000_000))
            ppoll(&answers, UInt(answers.count), &time, nil)
        }
        guard answers[0].revents != 0 else { return }
        var count: UInt64 = 0
        read(bell.raw, &count, MemoryLayout<UInt64>.size)
        // Whoever rang may have more to say, and where processors are few that is said first.
        sched_yield()
    }

    private func answerWatches() {
        // What is added meanwhile was not asked about.
        for index in 0..<(answers.count - 1) { watches[index].answered(answers[index + 1].revents) }
    }

    private func ringAlarms() {
        guard !alarms.isEmpty else { return }
        let now = clock.now
        for alarm in alarms { alarm.ring(at: now) }
    }
}
