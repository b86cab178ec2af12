import BLEWire

/// When a host has to be woken, as far as that is known without looking at all that may be due.
enum Alarm {
    /// Something has happened since that was found out.
    case unknown
    /// At this moment, or later; never, if it is `nil`.
    case known(Instant?)

    /// Notes that something is due then.
    mutating func bringForward(to instant: Instant) {
        guard case .known(var known) = self else { return }
        known.bringForward(to: instant)
        self = .known(known)
    }
}
