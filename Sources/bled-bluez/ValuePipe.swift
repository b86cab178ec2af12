import BLERuntime
import Glibc

/// The bridge's end of a pair of sockets that carries one value per packet.
///
/// Sendable because everything happens on the loop's thread.
final class ValuePipe: @unchecked Sendable {
    private let descriptor: FileDescriptor
    private let watch: LoopWatch

    private init(_ descriptor: FileDescriptor, _ watch: LoopWatch) {
        self.descriptor = descriptor
        self.watch = watch
    }

    /// Creates a pair of sockets; `nil` if there are too many open files.
    ///
    /// - Parameters:
    ///   - loop: The loop that reads from the bridge's end.
    ///   - receive: Called with values that the program writes, and with `nil` when it has closed its end.
    /// - Returns: The bridge's end and the program's.
    static func pair(
        on loop: EventLoop,
        receive: @escaping @Sendable ([UInt8]?) -> Void
    ) -> (own: ValuePipe, other: FileDescriptor)? {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { return nil }
        let own = FileDescriptor(ends[0])
        let watch = loop.watch(own, for: .reading) { _ in receive(read(own)) }
        return (ValuePipe(own, watch), FileDescriptor(ends[1]))
    }

    private static func read(_ descriptor: FileDescriptor) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = recv(descriptor.raw, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// True if the program has closed its end and all values that it wrote have been read.
    var isAtEnd: Bool {
        var octet: UInt8 = 0
        let count = recv(descriptor.raw, &octet, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        // A program that closes its end before it has read all values leaves an error.
        return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
    }

    /// Writes a value; drops it if the program reads too slowly.
    func write(_ value: [UInt8]) { _ = send(descriptor.raw, value, value.count, Int32(MSG_NOSIGNAL)) }

    func pause() { watch.interest = [] }
    func resume() { watch.interest = .reading }
    func close() { watch.cancel() }
}
