import BLEWire

/// The time of a host, which stands still as long as its controller may say nothing.
///
/// What a controller has said meanwhile is read later; it must not count as late, or the host would give up what is
/// well and has been answered.
struct HostTime {
    /// How many nanoseconds it has stood still so far.
    private var lost: Int64 = 0
    /// When it stopped, if it stands still.
    private var stopped: Instant?

    /// The host's time at this instant of the loop's.
    func time(at now: Instant) -> Instant { (stopped ?? now).later(byNanoseconds: -lost) }

    /// When the loop is to wake the host for this instant of its time; `nil` as long as it stands still.
    func wake(for due: Instant) -> Instant? { stopped == nil ? due.later(byNanoseconds: lost) : nil }

    /// Stands still from now on.
    mutating func stop(at now: Instant) { if stopped == nil { stopped = now } }

    /// Goes on.
    mutating func goOn(at now: Instant) {
        guard let since = stopped.take() else { return }
        lost += max(0, now.nanoseconds(since: since))
    }
}
