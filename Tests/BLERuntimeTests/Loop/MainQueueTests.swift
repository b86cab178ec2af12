import BLERuntime
import Dispatch
import Testing

@Suite("Activity of the main queue", .timeLimit(.minutes(30)))
struct MainQueueTests {
    /// Comes back until the bell was tried, which it is not while other tests add to the queue.
    @MainActor private func checkSupport() async -> Bool {
        for _ in 0..<10_000 where MainQueue.mayBeSupported {
            if MainQueue.checkSupport() { return true }
            await Task.yield()
        }
        return false
    }

    @Test("The main queue is not quiet once a block or task was added")
    @MainActor func additions() async {
        guard await checkSupport() else { return #expect(!MainQueue.mayBeSupported) }
        await Task.yield()
        DispatchQueue.main.async {}
        #expect(!MainQueue.isIdle)
        await Task.yield()
        let task = Task { @MainActor in }
        #expect(!MainQueue.isIdle)
        await task.value
        let queue = DispatchQueue(label: "behind", target: .main)
        queue.async {}
        #expect(!MainQueue.isIdle)
    }
}
