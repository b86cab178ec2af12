import Dispatch
import Glibc
import LinuxCalls

/// The state of the main queue, as seen by code that runs on it: whether more items are queued.
///
/// Dispatch has no such function. But when a run loop serves the main queue, Dispatch signals a descriptor for the
/// first item that is added after the loop took out all others; code in between can check it. This is not documented,
/// so it is tested before it is relied on.
package enum MainQueue {
    private enum Bell {
        case untried
        case rings
        case isMissing
    }

    private static let bell = Locked(Bell.untried)
    private static let descriptor = main_queue_descriptor()

    /// True if ``canTell()`` may return true.
    package static var mayTell: Bool { bell.withLock { $0 != .isMissing } }

    /// Returns whether code that currently runs on the main queue can use ``isQuiet``.
    ///
    /// The first call returns false, because the test adds an item to the queue.
    package static func canTell() -> Bool {
        bell.withLock { bell in
            // Without a run loop the main queue is served by any thread, and Dispatch rings for nobody.
            guard descriptor >= 0, is_first_thread() != 0 else {
                bell = .isMissing
                return false
            }
            guard bell == .untried else { return bell == .rings }
            // Whether it is silent when it should be is seen only when nobody else adds anything.
            guard !isRung else { return false }
            DispatchQueue.main.async {}
            bell = isRung ? .rings : .isMissing
            return false
        }
    }

    /// True if nothing was added to the main queue since the running items were taken out, provided that ``canTell()``
    /// is true.
    package static var isQuiet: Bool { !isRung }

    private static var isRung: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) != 0
    }
}
