import Glibc
import LinuxCalls

/// An epoll set for a loop with many watches: the cost of a wait depends on the number of events, not of watches.
///
/// Linux: epoll(7). Used only by the thread that holds the loop's lock.
final class EpollSet {
    /// The minimum number of watches for which an epoll set is cheaper than poll(2).
    static let least = 16
    /// The maximum number of events per call.
    ///
    /// The next call returns the rest.
    private static let mostEvents = 64

    private let epoll: FileDescriptor
    /// The registered watches, by file descriptor number.
    private var watches: [LoopWatch?] = []
    private var results = [epoll_event](repeating: epoll_event(), count: mostEvents)

    /// Creates an empty set; returns `nil` if the process cannot open another file descriptor.
    init?() {
        let raw = epoll_create1(Int32(O_CLOEXEC))
        guard raw >= 0 else { return nil }
        epoll = FileDescriptor(raw)
    }

    /// The argument that makes poll(2) wait for all watches of the set.
    var pollArgument: pollfd { pollfd(fd: epoll.raw, events: Int16(POLLIN), revents: 0) }

    /// Registers the wanted events of all watches; returns `false` if a watch cannot be registered, in which case the
    /// loop must poll all watches without the set.
    func update(_ present: [LoopWatch]) -> Bool {
        present.allSatisfy { $0.registered == $0.wanted || register($0, $0.wanted) }
    }

    /// Removes a cancelled watch.
    func remove(_ watch: LoopWatch) { register(watch, nil) }

    /// Reads the events that have occurred, and passes each of them to its watch.
    func deliverEvents() {
        let count = Int(epoll_wait(epoll.raw, &results, Int32(results.count), 0))
        guard count > 0 else { return }
        // A watch may cancel others, which then ignore their events.
        for result in results[..<count] {
            let index = Int(result.data.fd)
            guard watches.indices.contains(index) else { continue }
            watches[index]?.answered(Int16(truncatingIfNeeded: result.events))
        }
    }

    /// Removes all watches.
    func removeAll() { for case let watch? in watches { register(watch, nil) } }

    /// Registers a watch, or removes it if `wanted` is `nil`; returns whether the system accepted this.
    @discardableResult private func register(_ watch: LoopWatch, _ wanted: Int16?) -> Bool {
        let index = Int(watch.number)
        var event = epoll_event()
        event.data.fd = watch.number
        event.events = UInt32(UInt16(bitPattern: wanted ?? 0))
        let operation: Int32
        switch (watch.registered, wanted) {
        case (nil, nil): return true
        case (nil, _): operation = EPOLL_CTL_ADD
        case (_, nil): operation = EPOLL_CTL_DEL
        case (_, _): operation = EPOLL_CTL_MOD
        }
        let isKept = epoll_ctl(epoll.raw, operation, watch.number, &event) == 0
        watch.registered = isKept ? wanted : nil
        if index >= watches.count { watches += Array(repeating: nil, count: index + 1 - watches.count) }
        watches[index] = watch.registered == nil ? nil : watch
        return isKept
    }
}
