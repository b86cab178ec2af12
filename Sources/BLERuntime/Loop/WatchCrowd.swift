import Glibc
import LinuxCalls

/// Many watches of one loop, for which the system keeps what is waited for: a wait costs what has happened, not how
/// many there are.
///
/// Linux: epoll(7). Whoever has the floor of the loop uses it.
final class WatchCrowd {
    /// From how many watches on it pays to be one.
    static let least = 16
    /// How many answers are taken at once; what is left is there at the next question.
    private static let mostAnswers = 64

    private let epoll: Descriptor
    /// By the numbers of their descriptors, those of which the system was told.
    private var watches: [LoopWatch?] = []
    private var answers = [epoll_event](repeating: epoll_event(), count: mostAnswers)

    /// Creates a crowd without anybody in it; `nil` if the process has no descriptor left.
    init?() {
        let raw = epoll_create1(Int32(O_CLOEXEC))
        guard raw >= 0 else { return nil }
        epoll = Descriptor(raw)
    }

    /// What the system is asked about all of them.
    var question: pollfd { pollfd(fd: epoll.raw, events: Int16(POLLIN), revents: 0) }

    /// Tells the system what is waited for; `false` if it does not take one of these, and all have to be asked about
    /// one by one.
    func update(_ present: [LoopWatch]) -> Bool {
        present.allSatisfy { $0.asked == $0.wanted || tell($0, $0.wanted) }
    }

    /// Leaves a watch that was cancelled.
    func remove(_ watch: LoopWatch) { tell(watch, nil) }

    /// Hands each watch what the system has to say of it.
    func answer() {
        let count = Int(epoll_wait(epoll.raw, &answers, Int32(answers.count), 0))
        guard count > 0 else { return }
        // A watch that hears of something may have others cancelled.
        for answer in answers[..<count] {
            let place = Int(answer.data.fd)
            guard watches.indices.contains(place) else { continue }
            watches[place]?.answered(Int16(truncatingIfNeeded: answer.events))
        }
    }

    /// Leaves every watch to others.
    func disband() { for case let watch? in watches { tell(watch, nil) } }

    /// Has the system keep what a watch waits for, or nothing; returns whether it does.
    @discardableResult private func tell(_ watch: LoopWatch, _ wanted: Int16?) -> Bool {
        let place = Int(watch.number)
        var event = epoll_event()
        event.data.fd = watch.number
        event.events = UInt32(UInt16(bitPattern: wanted ?? 0))
        let operation: Int32
        switch (watch.asked, wanted) {
        case (nil, nil): return true
        case (nil, _): operation = EPOLL_CTL_ADD
        case (_, nil): operation = EPOLL_CTL_DEL
        case (_, _): operation = EPOLL_CTL_MOD
        }
        let isKept = epoll_ctl(epoll.raw, operation, watch.number, &event) == 0
        watch.asked = isKept ? wanted : nil
        if place >= watches.count { watches += Array(repeating: nil, count: place + 1 - watches.count) }
        watches[place] = watch.asked == nil ? nil : watch
        return isKept
    }
}
