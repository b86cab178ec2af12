package import BLEWire
import Glibc
import LinuxCalls

/// A conversion from a clock's instants to wall-clock time, which is read once.
package struct WallClock: Sendable {
    /// Nanoseconds from 1970 to the first instant.
    private let start: Int64

    /// Creates the conversion for instants since 1970.
    package init() { start = 0 }

    /// Creates the conversion for a clock that shows `now` at this moment.
    package init(at now: Instant) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        start = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) &- now.nanoseconds
    }

    /// Returns nanoseconds since 1970.
    package func time(of instant: Instant) -> Int64 { start &+ instant.nanoseconds }
}
