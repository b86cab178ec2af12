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

/// The memory of this process.
enum Memory {
    /// The resident memory of this process, in KiB.
    static var residentKiB: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_024
    }
}
