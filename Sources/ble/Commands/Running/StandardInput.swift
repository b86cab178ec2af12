import BLERuntime
import Foundation
import Glibc

/// The standard input: typed by a user or piped in by a script.
enum StandardInput {
    /// Returns the next octets of standard input, at most 32 KiB; `nil` at the end.
    ///
    /// Nothing is read in advance, so a program that writes to the pipe waits until its data is needed.
    static func piece() async -> Data? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: read(atMost: 1 << 15).map { Data($0) }) }
        }
    }

    /// A line of standard input, without its line end.
    enum Line: Equatable {
        case complete(String)
        /// The line is longer than the limit; it was read to its end and dropped.
        case tooLong
    }

    /// Returns the next line of standard input without its line end; `nil` at the end.
    ///
    /// Reads ahead by one small buffer at most.
    static func line() async -> String? {
        guard case .complete(let line)? = await line(atMost: .max) else { return nil }
        return line
    }

    /// Returns the next line of standard input, or ``Line/tooLong`` if it has more than `limit` octets; `nil` at the
    /// end.
    static func line(atMost limit: Int) async -> Line? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: nextLine(atMost: limit)) }
        }
    }

    /// Waits for the next line, and returns it; `nil` at the end.
    ///
    /// Does not use the streams of the C library: since glibc 2.41, `exit` waits for a thread that reads from a stream.
    private static func nextLine(atMost limit: Int) -> Line? {
        var octets = rest.withLock { $0 }, searched = 0, isTooLong = false
        while true {
            if let end = octets[searched...].firstIndex(of: 0x0A) {
                let following = Array(octets[(end + 1)...])
                rest.withLock { $0 = following }
                let line = octets[..<end]
                guard !isTooLong, line.count <= limit else { return .tooLong }
                return .complete(String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self))
            }
            if octets.count > limit {
                octets = []
                isTooLong = true
            }
            searched = octets.count
            guard let more = read(atMost: 4096) else {
                rest.withLock { $0 = [] }
                if isTooLong { return .tooLong }
                return octets.isEmpty ? nil : .complete(String(decoding: octets, as: UTF8.self))
            }
            octets += more
        }
    }

    /// Waits for more input, and returns at most `size` octets of it; `nil` at the end.
    private static func read(atMost size: Int) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: size)
        var count = Glibc.read(STDIN_FILENO, &octets, size)
        while count < 0, errno == EINTR { count = Glibc.read(STDIN_FILENO, &octets, size) }
        return count > 0 ? Array(octets[..<count]) : nil
    }

    /// The octets that have been read beyond the last returned line.
    private static let rest = Locked<[UInt8]>([])

    /// The queue on which standard input is read; a read blocks until there is input.
    private static let queue = DispatchQueue(label: "ble.input")
}
