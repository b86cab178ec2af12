import BLEWire

/// The cached time at which a host must be woken.
enum CachedDeadline {
    /// Unknown, because something has happened since the time was last computed.
    case unknown
    /// The host need not be woken before this time; `nil` if it need not be woken at all.
    case known(Instant?)

    /// Records that something is due at `instant`.
    mutating func bringForward(to instant: Instant) {
        guard case .known(var known) = self else { return }
        known.bringForward(to: instant)
        self = .known(known)
    }
}
