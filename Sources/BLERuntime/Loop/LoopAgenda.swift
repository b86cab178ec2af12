import BLEWire
import Glibc

/// Everything that a loop waits for: file descriptors, alarms and its owner's next turn.
///
/// Used only by the thread that holds the loop's lock.
struct LoopAgenda {
    /// The time of the owner's next turn; `nil` if none is due.
    var due: Instant?
    private(set) var watches: [LoopWatch] = []
    /// The pending alarms, earliest first.
    private(set) var alarms: [LoopAlarm] = []
    /// The epoll set; `nil` if there are few watches.
    private(set) var epollSet: EpollSet?
    /// True if no epoll set is used, because a watch could not be added to one.
    private var cannotUseEpoll = false
    /// The file descriptors that the loop polls: the wake-up descriptor, followed by the epoll set or, without one, by
    /// the descriptors of all watches.
    private var pollArguments: [pollfd] = []
    /// The time at which the current or last wait ends; `nil` if it has no limit.
    private(set) var until: Instant?

    mutating func add(_ watch: LoopWatch) { watches.append(watch) }

    mutating func add(_ alarm: LoopAlarm) {
        alarms.insert(alarm, at: alarms.firstIndex { alarm.deadline < $0.deadline } ?? alarms.endIndex)
    }

    /// Updates the things to wait for, and copies the arguments of the next poll into `results`.
    mutating func prepare(for wakeDescriptor: Int32, at now: Instant, into results: inout [pollfd]) {
        // Searching first is cheaper than moving the elements, because most of them stay.
        if watches.contains(where: { $0.isCancelled }) { removeCancelled() }
        if alarms.contains(where: { $0.isOver }) { alarms.removeAll { $0.isOver } }
        updateEpollSet()
        let count = epollSet == nil ? watches.count : 1
        if pollArguments.count != count + 1 {
            pollArguments = Array(
                repeating: pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
                count: count + 1
            )
        }
        if let epollSet {
            pollArguments[1] = epollSet.pollArgument
        } else {
            for index in watches.indices { pollArguments[index + 1] = watches[index].pollArgument }
        }
        if results.count != pollArguments.count { results = Array(repeating: pollfd(), count: pollArguments.count) }
        for index in pollArguments.indices { results[index] = pollArguments[index] }
        // An earlier deadline is kept even if it no longer applies. The next deadline is often no earlier, so a thread
        // that sets it need not wake the loop's thread. Waking too early does no harm.
        let deadline = nextDeadline
        if let until, until > now, deadline.map({ $0 > until }) ?? true {} else { until = deadline }
    }

    private mutating func removeCancelled() {
        if let epollSet { for watch in watches where watch.isCancelled { epollSet.remove(watch) } }
        watches.removeAll { $0.isCancelled }
    }

    /// Moves the watches into an epoll set if there are many, and out of it if there are few.
    private mutating func updateEpollSet() {
        if epollSet != nil, watches.count < EpollSet.least / 2 { removeEpollSet() }
        if epollSet == nil, watches.count >= EpollSet.least, !cannotUseEpoll { epollSet = EpollSet() }
        guard let epollSet, !epollSet.update(watches) else { return }
        cannotUseEpoll = true
        removeEpollSet()
    }

    private mutating func removeEpollSet() {
        epollSet?.removeAll()
        epollSet = nil
    }

    /// Returns whether the waiting thread must be woken, because it waits for the wrong file descriptors or too long.
    ///
    /// A deadline that is earlier than the end of the wait becomes the end of this and of later waits, even if it is
    /// cancelled. Some deadlines are cancelled by each request and set again after each response. If they were
    /// forgotten in between, each of them would be a new, earlier end of the wait, and the thread would have to be
    /// woken.
    mutating func waitsForOther() -> Bool {
        if let deadline = nextDeadline, until.map({ deadline < $0 }) ?? true {
            until = deadline
            return true
        }
        guard epollSet == nil else { return watches.contains { $0.registered != $0.wanted } }
        guard watches.count == pollArguments.count - 1 else { return true }
        return watches.indices.contains { index in
            let pollArgument = watches[index].pollArgument, registered = pollArguments[index + 1]
            return pollArgument.fd != registered.fd || pollArgument.events != registered.events
        }
    }

    private var nextDeadline: Instant? {
        switch (due, alarms.first?.deadline) {
        case (let turn?, let alarm?): min(turn, alarm)
        case (let turn, let alarm): turn ?? alarm
        }
    }
}
