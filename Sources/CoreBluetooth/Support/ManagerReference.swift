import Dispatch

/// How everything that belongs to a manager reaches it: weakly, and on its queue alone.
///
/// The manager is set once, before its queue starts, and looked into only on that queue; the rest never changes.
final class ManagerReference: @unchecked Sendable {
    /// Where the manager's delegate is called: a serial queue that targets the app's.
    let queue: DispatchQueue
    let console = Console()
    weak var manager: CBManager?

    init(queue: DispatchQueue) { self.queue = queue }

    /// Runs `body` on the manager's queue after all that is waiting already, unless the manager is gone by then.
    func later(_ body: @escaping @Sendable (CBManager) -> Void) {
        queue.async {
            if let manager = self.manager { body(manager) }
        }
    }
}
