import Glibc

@testable import BLERuntime

/// A listening TCP socket that accepts no connection, and whose queue of connections is full.
final class FullListener {
    private struct Unusable: Error {}

    /// The maximum number of connections to make until the queue is full.
    private static let most = 64

    let address: SocketAddress
    private let listener: FileDescriptor
    private var connections: [FileDescriptor] = []

    init() throws {
        var port: UInt16 = 0
        let any = SocketAddress.tcp(host: "127.0.0.1", port: 0)
        listener = try any.makeSocket { (socket, name, length) throws(TransportError) in
            var bound = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &bound) { bound in
                bound.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, name, length) == 0 && listen(socket, 0) == 0 && getsockname(socket, $0, &size) == 0
                }
            }
            guard isListening else { throw TransportError(.unreachable, errno: errno, "cannot listen") }
            port = UInt16(bigEndian: bound.sin_port)
        }
        address = .tcp(host: "127.0.0.1", port: port)
        while try connectOnce() {
            guard connections.count < Self.most else { throw Unusable() }
        }
    }

    /// Makes one more connection, and returns false if the listener does not answer.
    private func connectOnce() throws -> Bool {
        let connection = try address.makeSocket { (socket, name, length) throws(TransportError) in
            guard connect(socket, name, length) == 0 || errno == EINPROGRESS else {
                throw TransportError(.unreachable, errno: errno, "cannot connect")
            }
        }
        connections.append(connection)
        var question = pollfd(fd: connection.raw, events: Int16(POLLOUT), revents: 0)
        return poll(&question, 1, 100) > 0
    }
}
