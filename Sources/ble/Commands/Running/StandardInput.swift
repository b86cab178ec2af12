import BLERuntime
import Foundation
import Glibc

/// The standard input: typed by a user or piped in by a script.
enum StandardInput {
    /// Returns the next octets of standard input, at most one page; `nil` at the end.
    ///
    /// Nothing is read in advance, so a program that writes to a pipe waits until its data is needed.
    static func piece() async -> Data? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: read(atMost: 1 << 15).map { Data($0) }) }
        }
    }

    /// Returns the next line of standard input without its line end; `nil` at the end.
    ///
    /// At most a small buffer is read in advance.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: nextLine()) }
        }
    }

    /// Waits for the next line, and returns it; `nil` at the end.
    ///
    /// Does not use the streams of the C library: since glibc 2.41, `exit` waits for a thread that reads from a stream.
    private static func nextLine() -> String? {
        var octets = rest.withLock { $0 }, searched = 0
        while true {
            if let end = octets[searched...].firstIndex(of: 0x0A) {
                let following = Array(octets[(end + 1)...])
                rest.withLock { $0 = following }
                let line = octets[..<end]
                return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            }
            searched = octets.count
            guard let more = read(atMost: 4096) else {
                rest.withLock { $0 = [] }
                return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
            }
            octets += more
        }
    }

    /// Waits for more input, and returns it; `nil` at the end.
    private static func read(atMost size: Int) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: size)
        var count = Glibc.read(STDIN_FILENO, &octets, size)
        while count < 0, errno == EINTR { count = Glibc.read(STDIN_FILENO, &octets, size) }
        return count > 0 ? Array(octets[..<count]) : nil
    }

    /// The octets that have been read beyond the last returned line.
    private static let rest = Locked<[UInt8]>([])

    /// A queue for reads, which may block, because the input can be a file, a pipe or a terminal.
    private static let queue = DispatchQueue(label: "ble.input")
}
