import Foundation
import Synchronization

/// The run loop of the main thread, in a program whose `main` is not asynchronous.
enum MainLoop {
    private final class Outcome: Sendable {
        let value = Mutex<Result?>(nil)
    }

    /// Runs `body` as a detached task, and returns its result.
    ///
    /// In the meantime, the calling thread, which must be the main one, serves the main queue and run loop.
    static func wait(for body: @escaping @Sendable () async -> Result) -> Result {
        let outcome = Outcome()
        Task.detached {
            outcome.value.withLock { [result = await body()] in $0 = result }
            DispatchQueue.main.async {}
        }
        while true {
            if let result = outcome.value.withLock({ $0 }) { return result }
            // With a near date, the run loop would set a timer for each block of the main queue.
            _ = RunLoop.main.run(mode: .default, before: .distantFuture)
        }
    }
}
