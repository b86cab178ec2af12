import BLEWire
import Glibc

/// The things that a loop waits for: descriptors, alarms and its owner's next turn.
///
/// Used by the thread that holds the loop's lock.
struct LoopAgenda {
    /// The time of the owner's next turn.
    var due: Instant?
    private(set) var watches: [LoopWatch] = []
    /// The earliest first.
    private(set) var alarms: [LoopAlarm] = []
    /// The epoll set, if there are many watches.
    private(set) var crowd: WatchCrowd?
    /// True if a watch cannot be added to an epoll set.
    private var isUncrowdable = false
    /// The descriptors to poll, or those of the current wait: the wake-up descriptor, then the watches or the epoll
    /// set.
    private var questions: [pollfd] = []
    /// The end of the wait; `nil` for none.
    private(set) var until: Instant?

    mutating func add(_ watch: LoopWatch) { watches.append(watch) }

    mutating func add(_ alarm: LoopAlarm) {
        alarms.insert(alarm, at: alarms.firstIndex { alarm.deadline < $0.deadline } ?? alarms.endIndex)
    }

    /// Determines what to wait for besides the wake-up descriptor, and prepares the arguments of the next poll.
    mutating func prepare(for bell: Int32, at now: Instant, asking answers: inout [pollfd]) {
        // To look first costs less than to move what mostly stays.
        if watches.contains(where: { $0.isCancelled }) { removeCancelled() }
        if alarms.contains(where: { $0.isOver }) { alarms.removeAll { $0.isOver } }
        updateCrowd()
        let count = crowd == nil ? watches.count : 1
        if questions.count != count + 1 {
            questions = Array(repeating: pollfd(fd: bell, events: Int16(POLLIN), revents: 0), count: count + 1)
        }
        if let crowd {
            questions[1] = crowd.question
        } else {
            for index in watches.indices { questions[index + 1] = watches[index].question }
        }
        if answers.count != questions.count { answers = Array(repeating: pollfd(), count: questions.count) }
        for index in questions.indices { answers[index] = questions[index] }
        // A deadline that was given up is kept: the next one is often no earlier, so that another thread that sets it
        // need not ring, and waking early does no harm.
        let deadline = nextDeadline
        if let until, until > now, deadline.map({ $0 > until }) ?? true {} else { until = deadline }
    }

    private mutating func removeCancelled() {
        if let crowd { for watch in watches where watch.isCancelled { crowd.remove(watch) } }
        watches.removeAll { $0.isCancelled }
    }

    /// Moves many watches into an epoll set, if possible.
    private mutating func updateCrowd() {
        if crowd != nil, watches.count < WatchCrowd.least / 2 { disband() }
        if crowd == nil, watches.count >= WatchCrowd.least, !isUncrowdable { crowd = WatchCrowd() }
        guard let crowd, !crowd.update(watches) else { return }
        isUncrowdable = true
        disband()
    }

    private mutating func disband() {
        crowd?.disband()
        crowd = nil
    }

    /// Returns whether the waiting thread must be woken to wait for something else.
    ///
    /// An earlier deadline is kept even if it is given up before the next wait: a deadline that only exists while no
    /// request is pending would otherwise wake the thread after each response.
    mutating func waitsForOther() -> Bool {
        if let deadline = nextDeadline, until.map({ deadline < $0 }) ?? true {
            until = deadline
            return true
        }
        guard crowd == nil else { return watches.contains { $0.asked != $0.wanted } }
        guard watches.count == questions.count - 1 else { return true }
        return watches.indices.contains { index in
            let question = watches[index].question, asked = questions[index + 1]
            return question.fd != asked.fd || question.events != asked.events
        }
    }

    private var nextDeadline: Instant? {
        switch (due, alarms.first?.deadline) {
        case (let turn?, let alarm?): min(turn, alarm)
        case (let turn, let alarm): turn ?? alarm
        }
    }
}
