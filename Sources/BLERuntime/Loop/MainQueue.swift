import Dispatch
import Glibc
import LinuxCalls

/// The state of the main queue, as seen by code that runs on it: whether more items are queued.
///
/// Dispatch has no such function. But when a run loop serves the main queue, Dispatch signals a descriptor for the
/// first item that is added after the loop took out all others; code in between can check it. This is not documented,
/// so it is tested before it is relied on.
package enum MainQueue {
    private enum Support {
        case untested
        case works
        case fails
    }

    private static let support = Locked(Support.untested)
    private static let descriptor = main_queue_descriptor()

    /// True if ``checkSupport()`` may return true.
    package static var mayBeSupported: Bool { support.withLock { $0 != .fails } }

    /// Returns whether code that currently runs on the main queue can use ``isQuiet``.
    ///
    /// The first call returns false, because the test adds an item to the queue.
    package static func checkSupport() -> Bool {
        support.withLock { support in
            // Without a run loop, any thread serves the main queue, and Dispatch does not signal.
            guard descriptor >= 0, is_first_thread() != 0 else {
                support = .fails
                return false
            }
            guard support == .untested else { return support == .works }
            // The test needs a queue to which nothing else was added.
            guard !isSignalled else { return false }
            DispatchQueue.main.async {}
            support = isSignalled ? .works : .fails
            return false
        }
    }

    /// True if nothing was added to the main queue since the running items were taken out, provided that
    /// ``checkSupport()`` is true.
    package static var isQuiet: Bool { !isSignalled }

    private static var isSignalled: Bool {
        var pollArgument = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&pollArgument, 1, 0) != 0
    }
}
