import BLEWire
import Glibc
import LinuxCalls
import Logging

/// A listening socket, which passes each connection to its owner as a stream.
package final class SocketListener: Sendable {
    /// How many connections are taken in a round, so that those that exist get their turn.
    private static let share = 4
    /// The same where a thread does nothing else.
    private static let largeShare = 64
    /// The system's queue of unaccepted connections.
    private static let backlog: Int32 = 128
    /// How long to wait before the next attempt to take a connection when the process has no descriptor left.
    private static let rest = Duration.milliseconds(100)

    private let descriptor: FileDescriptor
    private let loop: EventLoop
    private let watch: LoopWatch

    /// The port number, chosen by the system if 0 was requested; 0 for a Unix socket.
    package let port: UInt16

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: The address to listen on; the system chooses the TCP port if it is 0.
    ///   - loop: The loop on which everything runs.
    ///   - accept: Called on the thread of `loop` with each new connection, which is not started yet.
    /// - Throws: ``TransportError/Code/unreachable`` if listening on the address fails.
    package convenience init(
        at address: SocketAddress,
        on loop: EventLoop,
        accept: @escaping @Sendable (SocketStream) -> Void
    ) throws(TransportError) {
        let descriptor = try address.makeSocket { (socket, name, length) throws(TransportError) in
            var on: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            guard bind(socket, name, length) == 0, listen(socket, Self.backlog) == 0 else {
                throw TransportError(.unreachable, errno: errno, "listening on \(address)")
            }
        }
        self.init(adopting: descriptor, on: loop, taking: Self.share) { accept(SocketStream($0, on: loop)) }
    }

    /// Starts to listen at a path that no other user can replace, where every user may connect.
    ///
    /// The socket has its permissions before anybody can connect, whatever the process's mask is. The mask itself stays
    /// as it is, since it belongs to all threads.
    ///
    /// - Parameters:
    ///   - place: Where to listen.
    ///   - loop: A loop for this listener alone.
    ///   - accept: Called on the thread of `loop` with each new connection, which knows its ``SocketStream/sender``.
    /// - Throws: ``TransportError/Code/unreachable`` if the path cannot be used.
    package convenience init(
        at place: TrustedPath,
        on loop: EventLoop,
        accept: @escaping @Sendable (FileDescriptor) -> Void
    ) throws(TransportError) {
        let address = SocketAddress.unix(path: place.descriptorPath)
        let descriptor = try address.makeSocket { (socket, name, length) throws(TransportError) in
            guard bind(socket, name, length) == 0, place.openSocketToAll() else {
                throw TransportError(.unreachable, errno: errno, "creating \(place.path)")
            }
            guard listen(socket, Self.backlog) == 0 else {
                throw TransportError(.unreachable, errno: errno, "listening on \(place.path)")
            }
        }
        self.init(adopting: descriptor, on: loop, accept: accept)
    }

    /// Adopts a Unix socket that is already listening.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - loop: A loop for this listener alone.
    ///   - accept: Called on the thread of `loop` with each new connection, which knows its ``SocketStream/sender``.
    package convenience init(
        adopting descriptor: FileDescriptor,
        on loop: EventLoop,
        accept: @escaping @Sendable (FileDescriptor) -> Void
    ) {
        // Connections inherit it, so that no message comes too early for it.
        var on: Int32 = 1
        setsockopt(descriptor.raw, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size))
        self.init(adopting: descriptor, on: loop, taking: Self.largeShare, accept: accept)
    }

    private init(
        adopting descriptor: FileDescriptor,
        on loop: EventLoop,
        taking share: Int,
        accept: @escaping @Sendable (FileDescriptor) -> Void
    ) {
        _ = fcntl(descriptor.raw, F_SETFL, fcntl(descriptor.raw, F_GETFL, 0) | O_NONBLOCK)
        self.descriptor = descriptor
        port = Self.port(of: descriptor)
        self.loop = loop
        let pause = Pause(), isTCP = descriptor.isTCP
        // Connections do not keep their loop from ending.
        watch = loop.watch(descriptor, for: .reading) { [descriptor, weak loop] _ in
            for _ in 0..<share {
                guard let loop else { return }
                guard let connection = Self.connection(at: descriptor, isTCP: isTCP) else {
                    if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause.begin(errno, on: loop) }
                    return
                }
                pause.isNoted = false
                accept(connection)
            }
        }
        pause.watch = watch
    }

    /// Stops taking connections for a moment when the system refuses to hand one out, which would be asked for without
    /// end otherwise.
    ///
    /// Sendable because everything happens on the thread of the loop, after the listener is created.
    private final class Pause: @unchecked Sendable {
        weak var watch: LoopWatch?
        /// True if the log says so since the last connection.
        var isNoted = false

        func begin(_ code: Int32, on loop: EventLoop) {
            watch?.interest = []
            _ = loop.alarm(at: loop.clock.now + SocketListener.rest) { [weak self] in self?.watch?.interest = .reading }
            guard !isNoted else { return }
            isNoted = true
            let cure = "Raise the limit with “ulimit -n”, or LimitNOFILE in a unit."
            Logger.coreBluetooth.error("Cannot accept connections: \(String(cString: strerror(code))). \(cure)")
        }
    }

    deinit { loop.post { [watch] in watch.cancel() } }

    /// Stops listening.
    package func close() { shutdown(descriptor.raw, Int32(SHUT_RDWR)) }

    /// Takes the next connection; `nil` with the system's `errno` if there is none.
    private static func connection(at descriptor: FileDescriptor, isTCP: Bool) -> FileDescriptor? {
        let raw = accept_connection(descriptor.raw)
        guard raw >= 0 else { return nil }
        if isTCP {
            var on: Int32 = 1
            setsockopt(raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        return FileDescriptor(raw)
    }

    private static func port(of descriptor: FileDescriptor) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor.raw, $0, &length) }
        }
        guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return 0 }
        return UInt16(bigEndian: address.sin_port)
    }
}
