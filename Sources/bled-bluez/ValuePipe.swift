import BLERuntime
import Glibc

/// The bridge's end of a pair of sockets that carries one value per packet.
///
/// Sendable because everything happens on the loop's thread.
final class ValuePipe: @unchecked Sendable {
    private enum Input {
        case value([UInt8])
        /// Nothing has arrived.
        case nothing
        /// The program has closed its end.
        case end
    }

    private let descriptor: FileDescriptor
    private let watch: LoopWatch

    /// Creates a pipe from the bridge's end of a pair of sockets.
    ///
    /// - Parameters:
    ///   - descriptor: The bridge's end.
    ///   - loop: The loop that reads from it.
    ///   - receive: Called with values that the program writes, and with `nil` when it has closed its end.
    init(_ descriptor: FileDescriptor, on loop: EventLoop, receive: @escaping @Sendable ([UInt8]?) -> Void) {
        self.descriptor = descriptor
        watch = loop.watch(descriptor, for: .reading) { _ in
            switch Self.read(descriptor) {
            case .value(let value): receive(value)
            case .nothing: break
            case .end: receive(nil)
            }
        }
    }

    /// Creates a pair of sockets; `nil` if there are too many open files.
    ///
    /// - Returns: The bridge's end and the program's.
    static func pair(
        on loop: EventLoop,
        receive: @escaping @Sendable ([UInt8]?) -> Void
    ) -> (own: ValuePipe, other: FileDescriptor)? {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { return nil }
        return (ValuePipe(FileDescriptor(ends[0]), on: loop, receive: receive), FileDescriptor(ends[1]))
    }

    /// Returns true if a program's descriptor can be the bridge's end of a pair: if it is a connected Unix socket.
    ///
    /// A datagram socket is not accepted, because it does not report that its peer has closed.
    static func accepts(_ descriptor: FileDescriptor) -> Bool {
        var address = sockaddr_storage(), size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor.raw, $0, &size) == 0 }
        }
        let kinds = [SOCK_SEQPACKET, SOCK_STREAM].map { Int32($0.rawValue) }
        return isConnected && option(SO_DOMAIN, of: descriptor) == AF_UNIX
            && kinds.contains { $0 == option(SO_TYPE, of: descriptor) }
    }

    private static func option(_ name: Int32, of descriptor: FileDescriptor) -> Int32? {
        var value: Int32 = 0, size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor.raw, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    // A program may have left its socket in blocking mode, so each call has the flag `MSG_DONTWAIT`.

    private static func read(_ descriptor: FileDescriptor) -> Input {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return .value(Array(buffer[..<count])) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }

    /// True if the program has closed its end and all values that it wrote have been read.
    var isAtEnd: Bool {
        var octet: UInt8 = 0
        let count = recv(descriptor.raw, &octet, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        // A program that closes its end before it has read all values leaves an error.
        return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
    }

    /// Writes a value; returns false if it is dropped, because the program reads too slowly or has closed its end.
    @discardableResult
    func write(_ value: [UInt8]) -> Bool {
        send(descriptor.raw, value, value.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == value.count
    }

    func pause() { watch.interest = [] }
    func resume() { watch.interest = .reading }

    /// Ends the connection, even if the program has kept a copy of the bridge's end.
    func close() {
        watch.cancel()
        shutdown(descriptor.raw, Int32(SHUT_RDWR))
    }
}
