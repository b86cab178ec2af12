import BLEWire
import Glibc

/// A moment on the wall clock.
struct Timestamp: Equatable {
    /// Nanoseconds since 1970, negative before it.
    let nanoseconds: Int64

    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a moment from an instant that is counted from 1970, as those of captures are.
    init(since1970 instant: Instant) { nanoseconds = instant.nanoseconds }

    /// This moment.
    static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Whole seconds since 1970, rounded down.
    private var seconds: Int64 { nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0) }

    /// Six digits: the microseconds after ``seconds``.
    private var fraction: String {
        let rest = nanoseconds % 1_000_000_000
        return Self.digits(Int((rest < 0 ? rest + 1_000_000_000 : rest) / 1_000), 6)
    }

    /// The moment in UTC with microseconds, as RFC 3339 has it: `2023-11-14T22:13:20.000000Z`.
    var rfc3339: String {
        var second = time_t(seconds), parts = tm()
        gmtime_r(&second, &parts)
        let date = [(parts.tm_year + 1_900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
        return date.map { Self.digits(Int($0.0), $0.1) }.joined(separator: "-") + "T\(Self.time(parts)).\(fraction)Z"
    }

    /// The time of the day in the time zone of this process, with microseconds, for people.
    var timeOfDay: String {
        var second = time_t(seconds), parts = tm()
        localtime_r(&second, &parts)
        return "\(Self.time(parts)).\(fraction)"
    }

    private static func time(_ parts: tm) -> String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
