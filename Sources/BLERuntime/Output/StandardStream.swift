import Glibc

/// The standard output or standard error of this process.
///
/// Writing to it either writes everything or throws an error.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// The reason why a stream cannot be written to, such as a full disk or a closed pipe.
    package struct Failure: Error, CustomStringConvertible {
        package let stream: StandardStream
        package let errno: Int32

        package var description: String {
            let name = stream == .output ? "standard output" : "standard error"
            return "Cannot write to \(name): \(String(cString: strerror(errno)))"
        }
    }

    /// Writes all of `octets`, and waits while the stream is full.
    package func write(_ octets: some Sequence<UInt8>) throws(Failure) {
        var rest = Array(octets)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var room = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            case let number: throw Failure(stream: self, errno: number)
            }
        }
    }

    /// Writes text and a line feed.
    ///
    /// Characters that are unsafe on a terminal are replaced (``PrintableText``).
    package func write(line: String) throws(Failure) { try write((line.printableLines + "\n").utf8) }
}
