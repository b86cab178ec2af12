import Synchronization

/// That a host has said something: wakes the daemon, once for all that is said before its next turn.
final class News: Sendable {
    private let hasArrived = Atomic<Bool>(false)
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// There is something to take.
    func arrive() { if !hasArrived.exchange(true, ordering: .acquiringAndReleasing) { wake() } }

    /// All that has arrived so far is taken now.
    func isTold() { hasArrived.store(false, ordering: .sequentiallyConsistent) }
}
