import BLERuntime
import BLEWire
// Either module may declare `tm`, depending on the files that are compiled together.
import CoreFoundation
import Glibc

/// A time on the wall clock.
struct Timestamp: Equatable {
    /// The nanoseconds since the beginning of 1970 in UTC; negative for earlier times.
    let nanoseconds: Int64

    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a time from an instant of a clock that counts from 1970, as in captures.
    init(since1970 instant: Instant) { nanoseconds = instant.nanoseconds }

    /// The current time.
    static var now: Self {
        let zero = Instant()
        return Self(nanoseconds: WallClock(at: zero).time(of: zero))
    }

    /// The whole seconds since 1970, rounded down.
    private var seconds: Int64 { nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0) }

    /// The microseconds after ``seconds``, as six digits.
    private var fraction: String {
        let rest = nanoseconds % 1_000_000_000
        return Self.digits(Int((rest < 0 ? rest + 1_000_000_000 : rest) / 1_000), 6)
    }

    /// The time in UTC with microseconds, in the format of RFC 3339: `2023-11-14T22:13:20.000000Z`.
    var rfc3339: String {
        var second = time_t(seconds), parts = tm()
        gmtime_r(&second, &parts)
        let date = [(parts.tm_year + 1_900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
        return date.map { Self.digits(Int($0.0), $0.1) }.joined(separator: "-") + "T\(Self.time(parts)).\(fraction)Z"
    }

    /// The time of day in the process's time zone, with microseconds, in text for users.
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
