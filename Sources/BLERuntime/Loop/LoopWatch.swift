import BLEWire
import Glibc
import Synchronization

/// A loop's watch on one file descriptor, which lasts until it is cancelled.
///
/// Sendable because everything except ``cancel()`` is used only on the loop's thread.
package final class LoopWatch: @unchecked Sendable {
    /// The events to wait for on a file descriptor.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: Int16
        package init(rawValue: Int16) { self.rawValue = rawValue }

        package static let reading = Interest(rawValue: Int16(POLLIN))
        package static let writing = Interest(rawValue: Int16(POLLOUT))
    }

    /// The events to wait for; empty to ignore the descriptor for now.
    @exclusivity(unchecked) package var interest: Interest
    /// The events that are registered in an epoll set; `nil` if the watch is in none.
    var registered: Int16?
    private let descriptor: FileDescriptor
    private let ready: (Interest) -> Void
    private let cancelled = Atomic(false)

    init(_ descriptor: FileDescriptor, _ interest: Interest, _ ready: @escaping (Interest) -> Void) {
        self.descriptor = descriptor
        self.interest = interest
        self.ready = ready
    }

    /// Cancels the watch.
    ///
    /// Can be called on any thread.
    ///
    /// If the loop's thread is calling the watch at this moment, that call is completed.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The number of the file descriptor.
    var number: Int32 { descriptor.raw }

    /// The events to wait for; `nil` if there are none, or the watch is cancelled.
    var wanted: Int16? { interest.isEmpty || isCancelled ? nil : interest.rawValue }

    /// The argument for poll(2) that stands for this descriptor.
    var pollArgument: pollfd { pollfd(fd: wanted == nil ? -1 : descriptor.raw, events: interest.rawValue, revents: 0) }

    /// Calls the handler with the polled events that the watch waits for, if there are any.
    ///
    /// An error or the end of a stream counts as all events that the watch waits for.
    func answered(_ events: Int16) {
        guard events != 0, !isCancelled else { return }
        let hasEnded = events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
        let possible = hasEnded ? interest : interest.intersection(Interest(rawValue: events))
        if !possible.isEmpty { ready(possible) }
    }
}

/// A loop's alarm, which fires once unless it is cancelled first.
///
/// Sendable because only the loop's thread fires it.
package final class LoopAlarm: @unchecked Sendable {
    let deadline: Instant
    private let handler: () -> Void
    private let over = Atomic(false)

    init(_ deadline: Instant, _ handler: @escaping () -> Void) {
        self.deadline = deadline
        self.handler = handler
    }

    /// Cancels the alarm.
    ///
    /// Can be called on any thread.
    package func cancel() { over.store(true, ordering: .relaxed) }

    var isOver: Bool { over.load(ordering: .relaxed) }

    /// Fires the alarm if it is due.
    func fire(at now: Instant) {
        guard !isOver, deadline <= now else { return }
        cancel()
        handler()
    }
}
