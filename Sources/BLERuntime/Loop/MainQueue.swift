import Dispatch
import Glibc
import LinuxCalls

/// What can be known of the main queue by what runs on it: whether anything waits behind.
///
/// Dispatch has no such question. But where a run loop serves the main queue, Dispatch rings for it when something is
/// added for the first time since the loop took out all that there was; so whoever runs in between sees by the bell
/// whether anything was added. Nobody promises that, so it is tried before it is relied on.
package enum MainQueue {
    private enum Bell {
        case untried
        case rings
        case isMissing
    }

    private static let bell = Locked(Bell.untried)
    private static let descriptor = main_queue_descriptor()

    /// Whether it may be of use to ask whether it ``canTell()``.
    package static var mayTell: Bool { bell.withLock { $0 != .isMissing } }

    /// Whether what runs on the main queue now, and calls this on it, may ask whether it ``isQuiet``.
    ///
    /// The first who asks gets no for an answer, since trying the bell adds something to the queue.
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

    /// Whether nothing was added to the main queue since what runs there now was taken out, if that ``canTell()``.
    package static var isQuiet: Bool { !isRung }

    private static var isRung: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) != 0
    }
}
