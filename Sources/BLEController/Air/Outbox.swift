import BLEWire

/// What leaves the air for hosts, each in its time.
///
/// An exchange of packets is worked out when it begins; what it makes hosts hear waits here until it would have been
/// heard.
struct Outbox: Sendable {
    private struct Delayed: Sendable {
        let instant: Instant
        let output: Air.Output
    }

    private var ready: [Air.Output] = []
    private var head = 0
    /// Sorted by instant; for one instant, in the order in which they came.
    private var delayed: [Delayed] = []

    /// When the next output leaves that must not leave yet.
    var deadline: Instant? { delayed.first?.instant }

    /// Adds an output that leaves at `instant`, `now` being the present.
    mutating func add(_ output: Air.Output, at instant: Instant, now: Instant) {
        if instant <= now, delayed.first.map({ $0.instant > now }) ?? true { return ready.append(output) }
        var index = delayed.count
        while index > 0, instant < delayed[index - 1].instant { index -= 1 }
        delayed.insert(Delayed(instant: instant, output: output), at: index)
    }

    /// Lets go of what is due by `now`.
    mutating func release(by now: Instant) {
        var count = 0
        while count < delayed.count, delayed[count].instant <= now { count += 1 }
        guard count > 0 else { return }
        for entry in delayed[..<count] { ready.append(entry.output) }
        delayed.removeFirst(count)
    }

    /// Drops what has not left yet for a controller that was reset.
    mutating func drop(for controller: ControllerID) {
        delayed.removeAll { entry in
            switch entry.output {
            case .hci(_, let recipient), .note(_, let recipient): recipient == controller
            case .air: false
            }
        }
    }

    /// Takes the next output that is due.
    mutating func next() -> Air.Output? {
        guard head < ready.count else { return nil }
        let output = ready[head]
        head += 1
        if head == ready.count {
            ready.removeAll(keepingCapacity: true)
            head = 0
        }
        return output
    }
}
