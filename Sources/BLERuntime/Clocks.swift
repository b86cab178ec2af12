package import BLEWire
import Glibc
import LinuxCalls

/// A clock that counts the machine's monotonic time from the clock's creation.
///
/// It keeps running while the machine is suspended, because the controller's links continue, too.
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

/// The clock of a host, which stands still while the host reads nothing from the controller because a client is too
/// slow.
///
/// Packets that the controller sends while the clock stands still are read late. If the clock went on, the host would
/// take them for late responses, and give up procedures that the peer completed in time.
struct PausableClock {
    /// The total time for which the clock has stood still, in nanoseconds.
    private var lost: Int64 = 0
    /// The time at which the clock stopped; `nil` while it is running.
    private var stopped: Instant?

    /// Converts an instant of the loop's clock to the host's time.
    func time(at now: Instant) -> Instant { (stopped ?? now).later(byNanoseconds: -lost) }

    /// Converts an instant of the host's time to the loop's clock; `nil` while the host's clock stands still.
    func wake(for due: Instant) -> Instant? { stopped == nil ? due.later(byNanoseconds: lost) : nil }

    /// Stops the clock.
    mutating func stop(at now: Instant) { if stopped == nil { stopped = now } }

    /// Starts the clock again.
    mutating func resume(at now: Instant) {
        guard let since = stopped.take() else { return }
        lost += max(0, now.nanoseconds(since: since))
    }
}

/// A conversion from a clock's instants to the time of day.
///
/// The system's time is read once, on creation.
package struct WallClock: Sendable {
    /// The time of the clock's instant 0, in nanoseconds since 1970.
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
