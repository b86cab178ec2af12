import Dispatch
import Glibc
import LinuxCalls

/// The main queue, for code that runs on it and needs to know whether more items are queued.
///
/// Dispatch has no function for this. But if a run loop serves the main queue, Dispatch signals a file descriptor when
/// the first item is added after the loop has taken all others. Code that runs in between can check the descriptor.
/// This behaviour of Dispatch is not documented, so it is tested before it is used.
package enum MainQueue {
    private enum Support {
        case untested
        case works
        case fails
    }

    private static let support = Locked(Support.untested)
    private static let descriptor = main_queue_descriptor()

    /// False once it is known that ``checkSupport()`` will never return true.
    package static var mayBeSupported: Bool { support.withLock { $0 != .fails } }

    /// Returns whether code that currently runs on the main queue can use ``isIdle``.
    ///
    /// Returns false until Dispatch has been tested. The test is made by the first call during which no further items
    /// are queued. That call also returns false, because the test adds an item to the queue.
    package static func checkSupport() -> Bool {
        support.withLock { support in
            // Without a run loop, any thread serves the main queue, and Dispatch does not signal the descriptor.
            guard descriptor >= 0, is_first_thread() != 0 else {
                support = .fails
                return false
            }
            guard support == .untested else { return support == .works }
            // The test needs a queue to which nothing has been added since its items were taken.
            guard !isSignalled else { return false }
            DispatchQueue.main.async {}
            support = isSignalled ? .works : .fails
            return false
        }
    }

    /// True if nothing has been added to the main queue since it handed out the items that are running now.
    ///
    /// Valid only if ``checkSupport()`` has returned true.
    package static var isIdle: Bool { !isSignalled }

    private static var isSignalled: Bool {
        var pollArgument = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&pollArgument, 1, 0) != 0
    }
}
