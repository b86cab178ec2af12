import Foundation
import Glibc

/// What a person types, or a script pipes in.
enum StandardInput {
    /// The next octets of standard input, a page or less; `nil` when it has ended.
    ///
    /// Nothing is read ahead, so that whoever writes into a pipe goes as fast as who reads from it here.
    static func piece() async -> Data? {
        await withCheckedContinuation { continuation in
            queue.async {
                var octets = [UInt8](repeating: 0, count: 1 << 15)
                var count = Glibc.read(STDIN_FILENO, &octets, octets.count)
                while count < 0, errno == EINTR { count = Glibc.read(STDIN_FILENO, &octets, octets.count) }
                continuation.resume(returning: count > 0 ? Data(octets[..<count]) : nil)
            }
        }
    }

    /// The next line of standard input without its end; `nil` when it has ended.
    ///
    /// Nothing is read ahead but what fits into a small buffer.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: readLine()) }
        }
    }

    /// Who waits here holds up nobody: a file, a pipe and a terminal must all do.
    private static let queue = DispatchQueue(label: "ble.input")
}
