import Synchronization

/// A flag that wakes the daemon when a host has events, once per turn.
final class WakeFlag: Sendable {
    private let isRaised = Atomic<Bool>(false)
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Sets the flag.
    func raise() { if !isRaised.exchange(true, ordering: .acquiringAndReleasing) { wake() } }

    /// Clears the flag, because everything so far is taken now.
    func clear() { isRaised.store(false, ordering: .sequentiallyConsistent) }
}
