package import BLEWire
import Glibc
import LinuxCalls

/// The machine's monotonic time since this clock was created.
///
/// It continues while the machine is suspended, as connections on the air do.
package struct MonotonicClock: Sendable {
    private let start = Self.read()

    package init() {}

    /// The time since this clock was created.
    package var now: Instant { Instant(nanoseconds: Self.read() - start) }

    private static func read() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
