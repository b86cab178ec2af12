import Dispatch

/// Runs an actor on a serial queue.
///
/// What Dispatch delivers on that queue may enter the actor without suspending, so that events keep their order.
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: UnownedJob) {
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
