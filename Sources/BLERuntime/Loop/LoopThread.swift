import BLEWire
import Glibc
import LinuxCalls

/// The thread of a loop, which waits for work and does it.
///
/// Sendable because other threads use only the inbox and the work, which any thread may use.
/// Exclusivity checks are off for `bodies` and `results`, because nothing that is called during an access to one of
/// them accesses it again.
final class LoopThread: @unchecked Sendable {
    private let name: String
    private let clock: MonotonicClock
    private let inbox = LoopInbox()
    private let work = LoopWork()

    /// The posted closures that the current pass runs; empty between passes.
    @exclusivity(unchecked) private var bodies: [@Sendable () -> Void] = []
    /// True if the loop has not been woken since the last pass; the thread may then wait.
    private var mayWait = false
    /// True if the file descriptors were polled in this pass or the previous one.
    private var hasPolled = true
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

    func allowPolling() { polling.isAllowed = true }

    func add(_ watch: LoopWatch) { work.add(watch) }

    func add(_ alarm: LoopAlarm) { work.add(alarm) }

    /// Takes the owner's turn on the calling thread; returns false if the loop's thread is not waiting.
    func takeTurnHere() -> Bool {
        guard inbox.isWaiting, let isOutdated = work.takeTurnIfFree() else { return false }
        if isOutdated { wake() }
        return true
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

    private func prepareToWait() { mayWait = inbox.beginWaiting() }

    private func clearResults() { for index in results.indices { results[index].revents = 0 } }

    /// Polls all file descriptors, and waits for them unless the loop has been woken.
    private func wait() {
        if !mayWait {
            pollAll(for: 0)
        } else if !(polling.isDue && poll()) {
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

    /// Polls for a short time; returns whether there is something to do.
    ///
    /// The program at the other end may need this processor to respond, so the thread yields it before each poll.
    private func poll() -> Bool {
        let begun = clock.now, end = BusyPolling.end(from: begun)
        if let until, until < end { return false }
        var last = begun
        repeat {
            sched_yield()
            if pollAll(for: 0) {
                polling.ended(.answered)
                return true
            }
            let now = clock.now
            guard now <= BusyPolling.end(from: last) else {
                polling.ended(.preempted)
                return false
            }
            last = now
        } while last < end
        polling.ended(.unanswered)
        return false
    }

    /// Polls all file descriptors with a timeout in nanoseconds, or without one; returns whether any of them is ready.
    @discardableResult private func pollAll(for nanoseconds: Int64?) -> Bool {
        let nanoseconds = inbox.longestWait.map { min($0, nanoseconds ?? $0) } ?? nanoseconds
        guard let nanoseconds else { return ppoll(&results, UInt(results.count), nil, nil) > 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        return ppoll(&results, UInt(results.count), &time, nil) > 0
    }
}
