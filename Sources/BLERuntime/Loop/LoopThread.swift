import BLEWire
import Glibc
import LinuxCalls

/// The thread of a loop, which waits for work and does it.
///
/// Sendable because other threads use only the inbox, the work and the inline waiter, which any thread may use.
/// Exclusivity checks are off for `bodies` and `results`, because nothing that is called during an access to one of
/// them accesses it again.
final class LoopThread: @unchecked Sendable {
    private let name: String
    private let clock: MonotonicClock
    private let inbox = LoopInbox()
    private let work = LoopWork()
    let inlineWaiter = InlineWaiter()

    /// The posted closures that the current pass runs; empty between passes.
    @exclusivity(unchecked) private var bodies: [@Sendable () -> Void] = []
    /// True if the loop has not been woken since the last pass; the thread may then wait.
    private var mayWait = false
    /// True if the file descriptors were polled in this pass or the previous one.
    private var hasPolled = true
    /// True if the program at the other end of the socket has sent something, and other file descriptors may have
    /// changed since.
    private var hasRead = false
    /// The file descriptors of the next poll, with the results of the last one.
    @exclusivity(unchecked) private var results: [pollfd] = []
    /// The time at which the next wait must end; `nil` if it has no limit.
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

    func allowPolling(_ attempt: @escaping () -> Bool, beforePolling: @escaping () -> Void) {
        polling.isAllowed = true
        work.allowReading(attempt, beforePolling: beforePolling)
    }

    func add(_ watch: LoopWatch) { work.add(watch) }

    func add(_ alarm: LoopAlarm) { work.add(alarm) }

    /// Takes the owner's turn on the calling thread; returns false if the loop's thread is not waiting.
    func takeTurnHere() -> Bool {
        guard inbox.isWaiting, let isOutdated = work.takeTurnIfFree() else { return false }
        if isOutdated { wake() }
        return true
    }

    /// Waits on the calling thread in place of the loop's thread, until `isDone` returns true or for as long as the
    /// loop itself would poll; returns whether `isDone` returned true.
    func waitHere(until isDone: () -> Bool) -> Bool {
        if inlineWaiter.isWanted, pollHere(until: isDone) { return true }
        resumeOwnWaiting()
        return false
    }

    /// Makes the loop's own thread wait again if it currently relies on another thread to wait in its place.
    func resumeOwnWaiting() { if inlineWaiter.stop() { wake() } }

    private func pollHere(until isDone: () -> Bool) -> Bool {
        let begun = clock.now, end = BusyPolling.end(from: begun)
        var last = begun, schedule = PollingSchedule(from: begun), hasReadSomething = false
        repeat {
            inlineWaiter.keepWaiting(at: last)
            if schedule.isReadDue(at: last) {
                switch work.readAndTakeTurnIfFree() {
                case .nothing: schedule.noteEmptyRead(at: clock.now)
                case .turn(isOutdated: true): return false
                case .turn(isOutdated: false):
                    hasReadSomething = true
                    schedule.noteSuccessfulRead(at: last)
                }
                if isDone() {
                    inlineWaiter.answered()
                    return true
                }
            }
            let now = pauseOrYield(&schedule)
            guard now <= BusyPolling.end(from: last) else {
                inlineWaiter.failed(.preempted)
                return false
            }
            last = now
        } while last < end
        // A wait that got a response was not useless, even if the caller needs another response.
        if !hasReadSomething { inlineWaiter.failed(.unanswered) }
        return false
    }

    private func run() {
        _ = pthread_setname_np(pthread_self(), String(name.prefix(15)))
        until = work.prepareFirst(for: inbox.wakeDescriptor.raw, into: &results, at: clock.now)
        prepareToWait()
        while runPass() {}
    }

    /// Waits, and then does all work that is due; returns false if the loop has been stopped.
    private func runPass() -> Bool {
        // While the loop is woken all the time, polling in every other pass is enough.
        hasPolled = mayWait || !hasPolled
        if hasPolled { wait() } else { clearResults() }
        guard inbox.begin(&bodies) else {
            work.runLastPass(&bodies)
            return false
        }
        until = work.runPass(&bodies, for: inbox.wakeDescriptor.raw, into: &results, on: clock)
        prepareToWait()
        return true
    }

    private func prepareToWait() {
        if let (outcome, responses) = inlineWaiter.takeOutcome() { polling.ended(outcome, after: responses) }
        inlineWaiter.isWanted = polling.isDue
        mayWait = inbox.beginWaiting(asleep: !polling.isDue)
    }

    private func clearResults() { for index in results.indices { results[index].revents = 0 } }

    /// Polls all file descriptors, and waits for them unless the loop has been woken.
    private func wait() {
        if !mayWait {
            pollAll(for: 0)
        } else if polling.isDue {
            if !poll() { sleepUnlessWoken() }
        } else {
            sleep()
        }
        guard results[0].revents != 0 else { return }
        inbox.clearWake()
        // The thread that has woken this one may queue more commands. On a machine with few processors, this thread
        // must let it run first.
        sched_yield()
    }

    /// Waits for the file descriptors without using the processor.
    private func sleep() {
        let begun = until == nil && !polling.isAllowed ? Instant() : clock.now
        pollAll(for: until.map { max(0, $0.nanoseconds(since: begun)) })
        if polling.isAllowed { polling.waited(from: begun, to: clock.now) }
    }

    /// Sleeps after busy polling, unless the loop has been woken.
    ///
    /// During busy polling, other threads do not signal the wake-up descriptor, so the inbox has to be checked before
    /// the thread sleeps.
    private func sleepUnlessWoken() {
        if !inbox.beginSleeping() {
            pollAll(for: 0)
        } else if inlineWaiter.end(at: clock.now) != nil {
            sleepDuringInlineWait()
        } else {
            sleep()
        }
    }

    /// Sleeps until a wake-up or a deadline, while another thread waits for the program at the other end of the socket.
    ///
    /// Polls the other file descriptors from time to time.
    private func sleepDuringInlineWait() {
        var now = clock.now
        // The other thread may have read something that has not been processed.
        defer { hasRead = true }
        while let end = inlineWaiter.end(at: now) {
            if let until, until <= now { return }
            let nanoseconds = (until.map { min($0, end) } ?? end).nanoseconds(since: now)
            var time = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
            if ppoll(&results, 1, &time, nil) > 0 { return }
            hasRead = true
            if pollAll(for: 0) { return }
            now = clock.now
        }
    }

    /// Polls for a short time; returns whether there is something to do.
    private func poll() -> Bool {
        let begun = clock.now, end = BusyPolling.end(from: begun)
        if let until, until < end { return false }
        // An attempt only reads from the program; the other descriptors have to be polled.
        let mustPollAll = results.count != 2 || results[1].events != LoopWatch.Interest.reading.rawValue
        var last = begun, polls = 0, schedule = PollingSchedule(from: begun)
        repeat {
            guard inlineWaiter.end(at: last) == nil else { return false }
            if schedule.isReadDue(at: last) || inbox.isWoken {
                let isAnswered = readOnce() || mustPollAll && polls % BusyPolling.readsPerPoll == 0 && pollAll(for: 0)
                if isAnswered {
                    polling.ended(.answered)
                    // The thread that has woken this one may queue more commands.
                    if inbox.isWoken { sched_yield() }
                    return true
                }
                polls += 1
                schedule.noteEmptyRead(at: clock.now)
            }
            let now = pauseOrYield(&schedule)
            if now > BusyPolling.end(from: last) {
                polling.ended(.preempted)
                return false
            }
            last = now
        } while last < end
        polling.ended(.unanswered)
        return false
    }

    /// Yields the processor if a yield is due, then executes a pause instruction; returns the time afterwards.
    private func pauseOrYield(_ schedule: inout PollingSchedule) -> Instant {
        let begun = clock.now
        if schedule.isYieldDue(at: begun) {
            sched_yield()
            schedule.yielded(from: begun, to: clock.now)
        }
        pause_processor()
        return clock.now
    }

    /// Reads from the program at the other end of the socket; returns whether something was read.
    ///
    /// Returns true, without reading, if the loop has been woken.
    private func readOnce() -> Bool {
        if inbox.isWoken { return true }
        guard work.readIfFree() else { return false }
        hasRead = true
        return true
    }

    /// Polls all file descriptors with a timeout in nanoseconds, or without one; returns whether any of them is ready.
    @discardableResult private func pollAll(for nanoseconds: Int64?) -> Bool {
        if hasRead {
            hasRead = false
            work.prepareToPoll()
        }
        let nanoseconds = inbox.longestWait.map { min($0, nanoseconds ?? $0) } ?? nanoseconds
        guard let nanoseconds else { return ppoll(&results, UInt(results.count), nil, nil) > 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        return ppoll(&results, UInt(results.count), &time, nil) > 0
    }
}
