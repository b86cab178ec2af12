import BLEWire
import Glibc
import Synchronization

/// The interest of a loop in one descriptor, until it is cancelled.
///
/// Sendable because everything except ``cancel()`` is used on the loop's thread only.
package final class LoopWatch: @unchecked Sendable {
    /// The kinds of readiness.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: Int16
        package init(rawValue: Int16) { self.rawValue = rawValue }

        package static let reading = Interest(rawValue: Int16(POLLIN))
        package static let writing = Interest(rawValue: Int16(POLLOUT))
    }

    /// The readiness to wait for; empty to ignore the descriptor.
    @exclusivity(unchecked) package var interest: Interest
    /// The part of ``interest`` that is registered in an epoll set; `nil` for none.
    var registered: Int16?
    private let descriptor: FileDescriptor
    private let ready: (Interest) -> Void
    private let cancelled = Atomic(false)

    init(_ descriptor: FileDescriptor, _ interest: Interest, _ ready: @escaping (Interest) -> Void) {
        self.descriptor = descriptor
        self.interest = interest
        self.ready = ready
    }

    /// Cancels the watch, from any thread.
    ///
    /// A call in progress continues.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The descriptor's number.
    var number: Int32 { descriptor.raw }

    /// The events to wait for; `nil` for none.
    var wanted: Int16? { interest.isEmpty || isCancelled ? nil : interest.rawValue }

    /// The poll argument for this descriptor.
    var pollArgument: pollfd { pollfd(fd: wanted == nil ? -1 : descriptor.raw, events: interest.rawValue, revents: 0) }

    /// Processes the result of a poll.
    func answered(_ events: Int16) {
        guard events != 0, !isCancelled else { return }
        let hasEnded = events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
        let possible = hasEnded ? interest : interest.intersection(Interest(rawValue: events))
        if !possible.isEmpty { ready(possible) }
    }
}

/// A one-time alarm of a loop, until it is cancelled.
///
/// Sendable because only the loop's thread fires it.
package final class LoopAlarm: @unchecked Sendable {
    let deadline: Instant
    private let ring: () -> Void
    private let over = Atomic(false)

    init(_ deadline: Instant, _ ring: @escaping () -> Void) {
        self.deadline = deadline
        self.ring = ring
    }

    /// Cancels the alarm, from any thread.
    package func cancel() { over.store(true, ordering: .relaxed) }

    var isOver: Bool { over.load(ordering: .relaxed) }

    /// Fires the alarm if it is due.
    func ring(at now: Instant) {
        guard !isOver, deadline <= now else { return }
        cancel()
        ring()
    }
}
