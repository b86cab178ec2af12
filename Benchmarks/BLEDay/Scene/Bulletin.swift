import Foundation
import Glibc

/// What the apps of several processes know in common: a file to which all of them add lines.
///
/// A line is added with one call, so that no two mix, and whoever reads afterwards sees it. Sendable because the lock
/// guards the rest.
final class Bulletin: Sendable {
    /// How far the run is, as whoever runs it says.
    enum Stage: String {
        /// The apps do what they like.
        case busy
        /// They begin nothing more, and servers can be found.
        case calm
        /// Everything has had its time; the apps give up their connections.
        case parting
        /// That has had its time too.
        case over
    }

    private struct Reader {
        var offset = 0
        var rest: [UInt8] = []
        var stage = Stage.busy
    }

    private let descriptor: Int32
    private let reader = Shared(Reader())

    /// Opens the file, which is there already; `nil` if it cannot be opened.
    init?(path: String) {
        descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// The time, the same for all processes.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// How far the run is, as far as ``news()`` has read.
    var stage: Stage { reader.withLock { $0.stage } }

    /// Adds a line, of words without spaces.
    func post(_ words: String...) {
        let octets = Array((words.joined(separator: " ") + "\n").utf8)
        _ = octets.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// The words of the lines that have been added since this was called before; stages are kept here.
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
