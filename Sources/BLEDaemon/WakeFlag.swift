import Synchronization

/// A flag that a host sets when it has events.
///
/// It wakes the daemon once per turn, even if it is set more often.
final class WakeFlag: Sendable {
    private let isRaised = Atomic<Bool>(false)
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Sets the flag, and wakes the daemon if the flag was not set.
    func raise() { if !isRaised.exchange(true, ordering: .acquiringAndReleasing) { wake() } }

    /// Clears the flag at the start of a turn, before the turn processes all events that have arrived.
    func clear() { isRaised.store(false, ordering: .sequentiallyConsistent) }
}
