import Synchronization

/// A flag that wakes the daemon when a host has events, once per turn.
final class News: Sendable {
    private let hasArrived = Atomic<Bool>(false)
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Sets the flag.
    func arrive() { if !hasArrived.exchange(true, ordering: .acquiringAndReleasing) { wake() } }

    /// Clears the flag, because everything so far is taken now.
    func isTold() { hasArrived.store(false, ordering: .sequentiallyConsistent) }
}
