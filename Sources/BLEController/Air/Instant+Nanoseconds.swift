import BLEWire

/// Arithmetic of the link layer in whole nanoseconds, because 128-bit durations would slow down every connection event.
extension Instant {
    /// Returns the instant `nanoseconds` after `instant`.
    @inline(__always)
    static func + (instant: Self, nanoseconds: Int64) -> Self {
        Self(nanoseconds: instant.nanoseconds &+ nanoseconds)
    }

    @inline(__always)
    static func <= (a: Self, b: Self) -> Bool { a.nanoseconds <= b.nanoseconds }
}
