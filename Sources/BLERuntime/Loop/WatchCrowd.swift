import Glibc
import LinuxCalls

/// An epoll set for many watches of one loop: the cost of a wait depends on the number of events, not of watches.
///
/// Linux: epoll(7). Used by the thread that holds the loop's lock.
final class WatchCrowd {
    /// The number of watches from which on an epoll set pays.
    static let least = 16
    /// The maximum number of events per call; the rest is returned by the next one.
    private static let mostAnswers = 64

    private let epoll: Descriptor
    /// By descriptor number, as registered with the system.
    private var watches: [LoopWatch?] = []
    private var answers = [epoll_event](repeating: epoll_event(), count: mostAnswers)

    /// Creates an empty set; returns `nil` if the process has no descriptor left.
    init?() {
        let raw = epoll_create1(Int32(O_CLOEXEC))
        guard raw >= 0 else { return nil }
        epoll = Descriptor(raw)
    }

    /// The poll argument for all of them.
    var question: pollfd { pollfd(fd: epoll.raw, events: Int16(POLLIN), revents: 0) }

    /// Updates the registered watches; returns `false` if one cannot be registered, so that all must be polled one by
    /// one.
    func update(_ present: [LoopWatch]) -> Bool {
        present.allSatisfy { $0.asked == $0.wanted || tell($0, $0.wanted) }
    }

    /// Removes a cancelled watch.
    func remove(_ watch: LoopWatch) { tell(watch, nil) }

    /// Passes the events to their watches.
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

    /// Removes all watches.
    func disband() { for case let watch? in watches { tell(watch, nil) } }

    /// Registers a watch or removes it; returns whether it is registered.
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
