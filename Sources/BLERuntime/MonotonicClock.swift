package import BLEWire
import Glibc

/// The machine's time, counted from when this clock was made.
///
/// It never goes back, and it goes on while the machine is suspended, as connections on the air do.
package struct MonotonicClock: Sendable {
    private let start = Self.read()

    package init() {}

    /// How old this clock is.
    package var now: Instant { Instant(nanoseconds: Self.read() - start) }

    private static func read() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
