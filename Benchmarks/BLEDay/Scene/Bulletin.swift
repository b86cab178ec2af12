import Foundation
import Glibc

/// A file through which the apps of several processes share information: all of them append lines to it.
///
/// A line is appended with one system call, so lines never mix, and later reads see it. Sendable because the lock
/// guards the mutable state.
final class Bulletin: Sendable {
    /// The stage of the run, which the program that runs the apps decides.
    enum Stage: String {
        /// The apps perform random actions.
        case busy
        /// The apps start nothing new, and servers advertise.
        case calm
        /// All requests should be complete; the apps end their connections.
        case parting
        /// The connections should have ended; the apps exit.
        case over
    }

    private struct Reader {
        var offset = 0
        var rest: [UInt8] = []
        var stage = Stage.busy
    }

    private let descriptor: Int32
    private let reader = Shared(Reader())

    /// Opens the file, which must exist; `nil` if it cannot be opened.
    init?(path: String) {
        descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// The current time, by a clock that all processes share.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The last stage that ``news()`` has read.
    var stage: Stage { reader.withLock { $0.stage } }

    /// Appends a line.
    ///
    /// The words must not contain spaces.
    func post(_ words: String...) {
        let octets = Array((words.joined(separator: " ") + "\n").utf8)
        _ = octets.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Returns the words of each line that was added since the last call, and updates ``stage``.
    func news() -> [[Substring]] {
        reader.withLock { reader in
            var buffer: [UInt8] = Array(repeating: 0, count: 4_096), count = 0
            repeat {
                count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, reader.offset) }
                reader.offset += max(0, count)
                reader.rest += buffer.prefix(max(0, count))
            } while count > 0
            guard let end = reader.rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
            let text = String(decoding: reader.rest[...end], as: UTF8.self)
            reader.rest.removeSubrange(...end)
            let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
            for line in lines where line.count == 2 && line[0] == "stage" {
                reader.stage = Stage(rawValue: String(line[1])) ?? reader.stage
            }
            return lines
        }
    }
}
