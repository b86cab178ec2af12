package import BLEWire
import Glibc
import LinuxCalls

/// What the instants of one clock are on the clock on the wall, which is looked at once.
package struct WallClock: Sendable {
    /// Nanoseconds from 1970 to the beginning of the instants.
    private let start: Int64

    /// Creates the clock of instants that are counted from 1970 already.
    package init() { start = 0 }

    /// Creates the clock on which it is `now` at this moment.
    package init(at now: Instant) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        start = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) &- now.nanoseconds
    }

    /// Nanoseconds since 1970.
    package func time(of instant: Instant) -> Int64 { start &+ instant.nanoseconds }
}
