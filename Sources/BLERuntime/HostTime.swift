import BLEWire

/// The time of a host, which stands still while its controller is stopped.
///
/// The controller's output is read later then, and must not count as late: the host would give up procedures that were
/// answered in time.
struct HostTime {
    /// The nanoseconds for which it has stood still so far.
    private var lost: Int64 = 0
    /// The time at which it stopped, if it stands still.
    private var stopped: Instant?

    /// Returns the host's time at an instant of the loop.
    func time(at now: Instant) -> Instant { (stopped ?? now).later(byNanoseconds: -lost) }

    /// Returns the instant of the loop for a time of the host; `nil` while it stands still.
    func wake(for due: Instant) -> Instant? { stopped == nil ? due.later(byNanoseconds: lost) : nil }

    /// Stops the time.
    mutating func stop(at now: Instant) { if stopped == nil { stopped = now } }

    /// Resumes the time.
    mutating func goOn(at now: Instant) {
        guard let since = stopped.take() else { return }
        lost += max(0, now.nanoseconds(since: since))
    }
}
