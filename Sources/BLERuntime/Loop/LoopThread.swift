import BLEWire
import Glibc
import LinuxCalls

/// The thread of a loop, which waits for work and does it.
///
/// Sendable because other threads only use the inbox, the work and the inline waiter, which any thread may use.
/// Exclusivity checks are off, because it makes no outside calls.
final class LoopThread: @unchecked Sendable {
    private let name: String
    private let clock: MonotonicClock
    private let inbox = LoopInbox()
    private let work = LoopWork()
    let standIn = StandIn()

    /// False only while posted closures run.
    @exclusivity(unchecked) private var bodies: [@Sendable () -> Void] = []
    private var mayWait = false
    /// True if the system was polled in this pass or the previous one.
    private var hasAsked = true
    /// True if something was read before the poll.
    private var hasRead = false
    /// The polled descriptors with their results.
    @exclusivity(unchecked) private var answers: [pollfd] = []
    /// The end of the wait; `nil` for none.
    private var until: Instant?
    private var polling = BusyPolling()

    init(name: String, clock: MonotonicClock) {
        self.name = name
        self.clock = clock
    }

    var isCurrent: Bool { work.isCurrent }

    func start(turn: @escaping () -> Instant?) {
        work.begin(turn: turn)
        let isStarted = SystemThread.start { self.run() }
        precondition(isStarted, "the system cannot create a thread for the host")
    }

    func post(_ body: @escaping @Sendable () -> Void) { inbox.post(body) }

    func wake() { inbox.wake() }

    func stop() { inbox.stop() }

    func allowPolling(_ attempt: @escaping () -> Bool, beforeAsking: @escaping () -> Void) {
        polling.isAllowed = true
        work.allowReading(attempt, beforeAsking: beforeAsking)
    }

    func add(_ watch: LoopWatch) { work.add(watch) }

    func add(_ alarm: LoopAlarm) { work.add(alarm) }

    /// Takes the owner's turn on the calling thread, if the loop's thread is waiting; returns whether it did.
    func takeTurnHere() -> Bool {
        guard inbox.isWaiting, let isOutdated = work.takeTurnIfFree() else { return false }
        if isOutdated { wake() }
        return true
    }

    /// Waits on the calling thread in place of the loop's thread, until `isDone` returns true or for as long as the
    /// loop would poll; returns whether it continues to stand in.
    func waitHere(until isDone: () -> Bool) -> Bool {
        if standIn.isWanted, pollHere(until: isDone) { return true }
        stopWaiting()
        return false
    }

    /// Makes the loop's own thread wait again, if it relies on another one.
    func stopWaiting() { if standIn.leave() { wake() } }

    private func pollHere(until isDone: () -> Bool) -> Bool {
        let begun = clock.now, end = BusyPolling.end(from: begun)
        var last = begun, pace = PollingPace(from: begun), hasSeen = false
        repeat {
            standIn.stay(at: last)
            if pace.looks(at: last) {
                switch work.readAndTakeTurnIfFree() {
                case .nothing: pace.lookedInVain(at: clock.now)
                case .turn(isOutdated: true): return false
                case .turn(isOutdated: false):
                    hasSeen = true
                    pace.saw(at: last)
                }
                if isDone() {
                    standIn.answered()
                    return true
                }
            }
            let now = pass(&pace)
            guard now <= BusyPolling.end(from: last) else {
                standIn.gaveUp(.crowdedOut)
                return false
            }
            last = now
        } while last < end
        // What takes more than one answer is no reason to give up.
        if !hasSeen { standIn.gaveUp(.unanswered) }
        return false
    }

    private func run() {
        _ = pthread_setname_np(pthread_self(), String(name.prefix(15)))
        until = work.prepareFirst(for: inbox.bell.raw, asking: &answers, at: clock.now)
        prepareToWait()
        while round() {}
    }

    /// Waits and then does all work; returns whether the thread continues.
    private func round() -> Bool {
        // Who was woken meanwhile need not ask the system, every other time.
        hasAsked = mayWait || !hasAsked
        if hasAsked { wait() } else { forgetAnswers() }
        guard inbox.begin(&bodies) else {
            work.doLastRound(&bodies)
            return false
        }
        until = work.doRound(&bodies, for: inbox.bell.raw, asking: &answers, on: clock)
        prepareToWait()
        return true
    }

    private func prepareToWait() {
        if let (outcome, answers) = standIn.takeOutcome() { polling.asked(outcome, after: answers) }
        standIn.isWanted = polling.isDue
        mayWait = inbox.waits(asleep: !polling.isDue)
    }

    private func forgetAnswers() { for index in answers.indices { answers[index].revents = 0 } }

    /// Polls all descriptors, and waits unless the loop was woken.
    private func wait() {
        if !mayWait {
            ask(for: 0)
        } else if polling.isDue {
            if !poll() { sleepUnlessWoken() }
        } else {
            sleep()
        }
        guard answers[0].revents != 0 else { return }
        inbox.hush()
        // Whoever rang may have more to say, and where processors are few that is said first.
        sched_yield()
    }

    /// Waits without using the processor.
    private func sleep() {
        let begun = until == nil && !polling.isAllowed ? Instant() : clock.now
        ask(for: until.map { max(0, $0.nanoseconds(since: begun)) })
        if polling.isAllowed { polling.slept(from: begun, to: clock.now) }
    }

    /// Does the same after polling, when no wake-up was needed.
    private func sleepUnlessWoken() {
        if !inbox.sleeps() {
            ask(for: 0)
        } else if standIn.end(at: clock.now) != nil {
            sleepBehindStandIn()
        } else {
            sleep()
        }
    }

    /// Sleeps until a wake-up or a deadline, while another thread waits for everything else; polls everything else from
    /// time to time.
    private func sleepBehindStandIn() {
        var now = clock.now
        // What the other thread has read may not have been taken.
        defer { hasRead = true }
        while let end = standIn.end(at: now) {
            if let until, until <= now { return }
            let nanoseconds = (until.map { min($0, end) } ?? end).nanoseconds(since: now)
            var time = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
            if ppoll(&answers, 1, &time, nil) > 0 { return }
            hasRead = true
            if ask(for: 0) { return }
            now = clock.now
        }
    }

    /// Polls for a short time; returns whether a response arrived.
    private func poll() -> Bool {
        let begun = clock.now, end = BusyPolling.end(from: begun)
        if let until, until < end { return false }
        // What the program says is read without a question, but nothing else is.
        let asksForMore = answers.count != 2 || answers[1].events != LoopWatch.Interest.reading.rawValue
        var last = begun, questions = 0, pace = PollingPace(from: begun)
        repeat {
            guard standIn.end(at: last) == nil else { return false }
            if pace.looks(at: last) || inbox.isWoken {
                let isAnswered = look() || asksForMore && questions % BusyPolling.thoroughness == 0 && ask(for: 0)
                if isAnswered {
                    polling.asked(.answered)
                    // Whoever woke the loop may have more to say, too.
                    if inbox.isWoken { sched_yield() }
                    return true
                }
                questions += 1
                pace.lookedInVain(at: clock.now)
            }
            let now = pass(&pace)
            if now > BusyPolling.end(from: last) {
                polling.asked(.crowdedOut)
                return false
            }
            last = now
        } while last < end
        polling.asked(.unanswered)
        return false
    }

    /// Pauses, and yields the processor if that is due; returns the time afterwards.
    private func pass(_ pace: inout PollingPace) -> Instant {
        let begun = clock.now
        if pace.yields(at: begun) {
            sched_yield()
            pace.yielded(from: begun, to: clock.now)
        }
        pause_processor()
        return clock.now
    }

    /// Checks for a wake-up, and reads from the program at the other end.
    private func look() -> Bool {
        if inbox.isWoken { return true }
        guard work.readIfFree() else { return false }
        hasRead = true
        return true
    }

    /// Polls with a timeout in nanoseconds, or without one; returns whether anything is ready.
    @discardableResult private func ask(for nanoseconds: Int64?) -> Bool {
        if hasRead {
            hasRead = false
            work.prepareToAsk()
        }
        let nanoseconds = inbox.longestWait.map { min($0, nanoseconds ?? $0) } ?? nanoseconds
        guard let nanoseconds else { return ppoll(&answers, UInt(answers.count), nil, nil) > 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        return ppoll(&answers, UInt(answers.count), &time, nil) > 0
    }
}
