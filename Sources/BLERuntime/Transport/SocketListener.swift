import Glibc

/// Waits for connections at an address, and hands each to its owner as a stream.
package final class SocketListener: Sendable {
    /// How many connections are taken in a round: those who are connected come first.
    private static let share = 4
    /// How many connections the system holds until they are taken.
    private static let backlog: Int32 = 128

    private let descriptor: Descriptor
    private let loop: EventLoop
    private let watch: LoopWatch

    /// The port that it listens on, which the system chose if it was asked for 0; 0 for a Unix socket.
    package let port: UInt16

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: Where to listen; the system chooses a TCP port that is 0.
    ///   - loop: Where everything happens.
    ///   - accept: Called on the thread of `loop` with each new connection, which has not been started yet.
    /// - Throws: ``TransportError/Code/unreachable`` if the address cannot be listened at.
    package convenience init(
        at address: SocketAddress,
        on loop: EventLoop,
        accept: @escaping @Sendable (SocketStream) -> Void
    ) throws(TransportError) {
        let descriptor = try address.makeSocket { (socket, name, length) throws(TransportError) in
            var on: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            guard bind(socket, name, length) == 0, listen(socket, Self.backlog) == 0 else {
                throw TransportError(.unreachable, errno: errno, "listening at \(address)")
            }
        }
        self.init(adopting: descriptor, on: loop, accept: accept)
    }

    /// Goes on with a socket at which somebody listens already.
    package init(
        adopting descriptor: Descriptor,
        on loop: EventLoop,
        accept: @escaping @Sendable (SocketStream) -> Void
    ) {
        _ = fcntl(descriptor.raw, F_SETFL, fcntl(descriptor.raw, F_GETFL, 0) | O_NONBLOCK)
        self.descriptor = descriptor
        port = Self.port(of: descriptor)
        self.loop = loop
        // Connections do not keep their loop from ending.
        watch = loop.watch(descriptor, for: .reading) { [descriptor, weak loop] _ in
            for _ in 0..<Self.share {
                guard let loop, let connection = Self.connection(at: descriptor) else { return }
                accept(SocketStream(connection, on: loop))
            }
        }
    }

    deinit { loop.post { [watch] in watch.cancel() } }

    /// Takes no connection until ``resume()``; whoever connects meanwhile waits.
    ///
    /// Must be called on the thread of the loop.
    package func pause() { watch.interest = [] }

    /// Takes connections again.
    package func resume() { watch.interest = .reading }

    /// Lets nobody connect from now on.
    package func close() { shutdown(descriptor.raw, Int32(SHUT_RDWR)) }

    /// Takes the next connection; `nil` if none waits.
    private static func connection(at descriptor: Descriptor) -> Descriptor? {
        let raw = Glibc.accept(descriptor.raw, nil, nil)
        guard raw >= 0 else { return nil }
        _ = fcntl(raw, F_SETFL, fcntl(raw, F_GETFL, 0) | O_NONBLOCK)
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        var on: Int32 = 1
        setsockopt(raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return Descriptor(raw)
    }

    private static func port(of descriptor: Descriptor) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor.raw, $0, &length) }
        }
        guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return 0 }
        return UInt16(bigEndian: address.sin_port)
    }
}
