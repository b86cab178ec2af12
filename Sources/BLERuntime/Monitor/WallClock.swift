package import BLEWire
import Glibc
import LinuxCalls

/// A conversion from a clock's instants to the time of day.
///
/// The system's time is read once, on creation.
package struct WallClock: Sendable {
    /// The number of nanoseconds from 1970 to the clock's zero.
    private let start: Int64

    /// Creates a conversion for a clock that counts from 1970.
    package init() { start = 0 }

    /// Creates a conversion for a clock whose current instant is `now`.
    package init(at now: Instant) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        start = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) &- now.nanoseconds
    }

    /// Returns the time of an instant, in nanoseconds since 1970.
    package func time(of instant: Instant) -> Int64 { start &+ instant.nanoseconds }
}
