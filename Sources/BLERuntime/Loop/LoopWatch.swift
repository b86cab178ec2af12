import BLEWire
import Glibc
import Synchronization

/// The interest of a loop in one descriptor, until it is cancelled.
///
/// Sendable because only the thread of its loop uses it, but for ``cancel()``.
package final class LoopWatch: @unchecked Sendable {
    /// What one waits for, and what is possible.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: Int16
        package init(rawValue: Int16) { self.rawValue = rawValue }

        package static let reading = Interest(rawValue: Int16(POLLIN))
        package static let writing = Interest(rawValue: Int16(POLLOUT))
    }

    /// What is waited for; nothing is heard of a descriptor for which that is nothing.
    @exclusivity(unchecked) package var interest: Interest
    /// What the system keeps of ``interest`` for a ``WatchCrowd``; `nil` if it keeps nothing.
    var asked: Int16?
    private let descriptor: Descriptor
    private let ready: (Interest) -> Void
    private let cancelled = Atomic(false)

    init(_ descriptor: Descriptor, _ interest: Interest, _ ready: @escaping (Interest) -> Void) {
        self.descriptor = descriptor
        self.interest = interest
        self.ready = ready
    }

    /// Hears nothing more, from any thread; what is being handled just now goes on.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The number of the descriptor.
    var number: Int32 { descriptor.raw }

    /// What the system is to wait for; `nil` if there is nothing.
    var wanted: Int16? { interest.isEmpty || isCancelled ? nil : interest.rawValue }

    /// What the system is asked about this descriptor.
    var question: pollfd { pollfd(fd: wanted == nil ? -1 : descriptor.raw, events: interest.rawValue, revents: 0) }

    /// Takes what the system answered.
    func answered(_ events: Int16) {
        guard events != 0, !isCancelled else { return }
        let hasEnded = events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
        let possible = hasEnded ? interest : interest.intersection(Interest(rawValue: events))
        if !possible.isEmpty { ready(possible) }
    }
}

/// A time at which a loop rings once, until it is cancelled.
///
/// Sendable because only the thread of its loop rings it.
package final class LoopAlarm: @unchecked Sendable {
    let deadline: Instant
    private let ring: () -> Void
    private let over = Atomic(false)

    init(_ deadline: Instant, _ ring: @escaping () -> Void) {
        self.deadline = deadline
        self.ring = ring
    }

    /// Rings no more, from any thread.
    package func cancel() { over.store(true, ordering: .relaxed) }

    var isOver: Bool { over.load(ordering: .relaxed) }

    /// Rings if it is time.
    func ring(at now: Instant) {
        guard !isOver, deadline <= now else { return }
        cancel()
        ring()
    }
}
