import BLERuntime
import Foundation
import Glibc

/// What a person types, or a script pipes in.
enum StandardInput {
    /// The next octets of standard input, a page or less; `nil` when it has ended.
    ///
    /// Nothing is read ahead, so that whoever writes into a pipe goes as fast as who reads from it here.
    static func piece() async -> Data? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: read(atMost: 1 << 15).map { Data($0) }) }
        }
    }

    /// The next line of standard input without its end; `nil` when it has ended.
    ///
    /// Nothing is read ahead but what fits into a small buffer.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: nextLine()) }
        }
    }

    /// Waits for the next line.
    ///
    /// Without the C library's own streams: since version 2.41 the end of a process waits for whoever reads from one.
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

    /// Waits for what comes next; `nil` when there will be nothing any more.
    private static func read(atMost size: Int) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: size)
        var count = Glibc.read(STDIN_FILENO, &octets, size)
        while count < 0, errno == EINTR { count = Glibc.read(STDIN_FILENO, &octets, size) }
        return count > 0 ? Array(octets[..<count]) : nil
    }

    /// What was read behind the last line.
    private static let rest = Locked<[UInt8]>([])

    /// Who waits here holds up nobody: a file, a pipe and a terminal must all do.
    private static let queue = DispatchQueue(label: "ble.input")
}
