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
    /// Sorted by instant; for one instant, in the order in which they came; those before `released` have left.
    private var delayed: [Delayed] = []
    private var released = 0

    /// When the next output leaves that must not leave yet.
    var deadline: Instant? { released < delayed.count ? delayed[released].instant : nil }

    /// Adds an output that leaves at `instant`, `now` being the present.
    mutating func add(_ output: Air.Output, at instant: Instant, now: Instant) {
        if instant <= now, deadline.map({ $0 > now }) ?? true { return ready.append(output) }
        let added = Delayed(instant: instant, output: output)
        var index = delayed.count
        while index > released, instant < delayed[index - 1].instant { index -= 1 }
        if index == delayed.count { delayed.append(added) } else { delayed.insert(added, at: index) }
    }

    /// Lets go of what is due by `now`.
    mutating func release(by now: Instant) {
        while released < delayed.count, delayed[released].instant <= now {
            if released + 1 == delayed.count {
                // Nobody comes after it, so that it is moved and not copied.
                ready.append(delayed.removeLast().output)
                break
            }
            ready.append(delayed[released].output)
            released += 1
        }
        guard released > 0 else { return }
        if released == delayed.count {
            delayed.removeAll(keepingCapacity: true)
            released = 0
        } else if released >= Self.mostReleased {
            forgetReleased()
        }
    }

    /// How many outputs that have left are kept at most, so that the others need not be moved each time.
    private static let mostReleased = 64

    private mutating func forgetReleased() {
        delayed.removeFirst(released)
        released = 0
    }

    /// Drops what has not left yet for a controller that was reset.
    mutating func drop(for controller: ControllerID) {
        forgetReleased()
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
        guard head + 1 == ready.count else {
            head += 1
            return ready[head - 1]
        }
        let last = ready.removeLast()
        if head > 0 {
            ready.removeAll(keepingCapacity: true)
            head = 0
        }
        return last
    }
}
