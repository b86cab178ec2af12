package import BLEWire
import Glibc
import LinuxCalls

/// A clock that counts the machine's monotonic time from the clock's creation.
///
/// It keeps running while the machine is suspended, as links do.
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
