import BLEWire

/// The clock of a host, which stands still while nothing is read from the controller.
///
/// What the controller sends while the clock stands still is read late. The host must not mistake this for late
/// responses and give up procedures that the peer completed in time.
struct HostTime {
    /// The total time for which the clock has stood still, in nanoseconds.
    private var lost: Int64 = 0
    /// The time at which the clock stopped; `nil` while it is running.
    private var stopped: Instant?

    /// Converts an instant of the loop's clock to the host's time.
    func time(at now: Instant) -> Instant { (stopped ?? now).later(byNanoseconds: -lost) }

    /// Converts an instant of the host's time to the loop's clock; `nil` while the host's clock stands still.
    func wake(for due: Instant) -> Instant? { stopped == nil ? due.later(byNanoseconds: lost) : nil }

    /// Stops the clock.
    mutating func stop(at now: Instant) { if stopped == nil { stopped = now } }

    /// Starts the clock again.
    mutating func resume(at now: Instant) {
        guard let since = stopped.take() else { return }
        lost += max(0, now.nanoseconds(since: since))
    }
}
