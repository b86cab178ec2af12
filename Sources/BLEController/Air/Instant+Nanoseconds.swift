import BLEWire

/// The arithmetic of the link layer, which is in whole nanoseconds: a `Duration` has 128 bits, and every idle
/// connection event would pay for them.
extension Instant {
    /// The instant `nanoseconds` after `instant`.
    @inline(__always)
    static func + (instant: Self, nanoseconds: Int64) -> Self {
        Self(nanoseconds: instant.nanoseconds &+ nanoseconds)
    }

    @inline(__always)
    static func <= (a: Self, b: Self) -> Bool { a.nanoseconds <= b.nanoseconds }
}
