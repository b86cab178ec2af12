import CoreFoundation
import Glibc

/// A stopwatch, which starts when it is created.
struct Stopwatch {
    /// The kind of time to measure.
    enum Kind {
        case wall
        /// The processor time of this process.
        case processor

        fileprivate var clock: clockid_t {
            switch self {
            case .wall: CLOCK_MONOTONIC
            case .processor: CLOCK_PROCESS_CPUTIME_ID
            }
        }
    }

    private let kind: Kind
    private let start: Int64

    init(_ kind: Kind) {
        self.kind = kind
        start = Self.read(kind)
    }

    /// The measured time in nanoseconds.
    var nanoseconds: Int64 { Self.read(kind) - start }
    var seconds: Double { Double(nanoseconds) / 1e9 }

    private static func read(_ kind: Kind) -> Int64 {
        var time = timespec()
        clock_gettime(kind.clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
