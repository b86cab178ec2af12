import BLEWire

/// The time at which a host must be woken, as far as it is known without a search.
enum CachedDeadline {
    /// Unknown, because something has happened since the last search.
    case unknown
    /// At this time or later; never if it is `nil`.
    case known(Instant?)

    /// Records that something is due at `instant`.
    mutating func bringForward(to instant: Instant) {
        guard case .known(var known) = self else { return }
        known.bringForward(to: instant)
        self = .known(known)
    }
}
