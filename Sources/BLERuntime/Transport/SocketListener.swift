import BLEWire
import Glibc
import LinuxCalls
import Logging

/// A listening socket, which passes each new connection to its owner.
package final class SocketListener: Sendable {
    /// The maximum number of connections to accept in one pass, so that existing connections get their turn.
    private static let acceptsPerPass = 4
    /// The maximum number of connections to accept in one pass of a loop that does nothing else.
    private static let acceptsPerDedicatedPass = 64
    /// The maximum length of the system's queue of connections that wait to be accepted.
    private static let backlog: Int32 = 128
    /// The pause before the next attempt to accept a connection after file descriptors or memory have run out.
    private static let retryPause = Duration.milliseconds(100)

    private let descriptor: FileDescriptor
    /// True if another process, such as the service manager, has the same socket and keeps it for later listeners.
    private let isShared: Bool
    private let loop: EventLoop
    private let watch: LoopWatch

    /// The TCP port that the socket listens on; 0 for a Unix socket.
    package let port: UInt16

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: The address to listen on. With TCP port 0, the system chooses the port.
    ///   - loop: The loop on which everything runs.
    ///   - accept: Called on the thread of `loop` with each new connection, which must still be started.
    /// - Throws: ``TransportError/Code/unreachable`` if it is not possible to listen on the address.
    package convenience init(
        at address: SocketAddress,
        on loop: EventLoop,
        accept: @escaping @Sendable (SocketStream) -> Void
    ) throws(TransportError) {
        let descriptor = try address.makeSocket { (socket, name, length) throws(TransportError) in
            var on: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            guard bind(socket, name, length) == 0, listen(socket, Self.backlog) == 0 else {
                throw TransportError(.unreachable, errno: errno, "cannot listen on \(address)")
            }
        }
        self.init(on: descriptor, isShared: false, loop, taking: Self.acceptsPerPass) {
            accept(SocketStream($0, on: loop))
        }
    }

    /// Starts to listen at a path that no other user can replace, and lets all users connect.
    ///
    /// The socket gets its permissions before it accepts connections, regardless of the process's umask. The umask
    /// itself is not changed, because all threads share it.
    ///
    /// - Parameters:
    ///   - place: The path of the socket.
    ///   - loop: A loop that does nothing else.
    ///   - accept: Called on the thread of `loop` with each new connection, which has the option `SO_PASSCRED`.
    /// - Throws: ``TransportError/Code/unreachable`` if the path cannot be used.
    package convenience init(
        at place: TrustedPath,
        on loop: EventLoop,
        accept: @escaping @Sendable (FileDescriptor) -> Void
    ) throws(TransportError) {
        guard place.descriptorPath.utf8.count <= SocketAddress.mostOctetsOfPath else {
            let cure = "Shorten the file name of the socket; the length of its directory does not matter."
            throw TransportError(.unreachable, "the name of the socket \(place.path) is too long", cure: cure)
        }
        let address = SocketAddress.unix(path: place.descriptorPath)
        let descriptor = try address.makeSocket { (socket, name, length) throws(TransportError) in
            guard bind(socket, name, length) == 0, place.openSocketToAll() else {
                throw TransportError(.unreachable, errno: errno, "cannot create the socket \(place.path)")
            }
            guard listen(socket, Self.backlog) == 0 else {
                throw TransportError(.unreachable, errno: errno, "cannot listen on \(place.path)")
            }
        }
        Self.reportSenders(on: descriptor)
        self.init(on: descriptor, isShared: false, loop, taking: Self.acceptsPerDedicatedPass, accept: accept)
    }

    /// Accepts connections on a Unix socket that is already listening, and that another process may use as well.
    ///
    /// The socket keeps listening after ``close()``: connections wait in the system's queue for the next process that
    /// accepts them.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - loop: A loop that does nothing else.
    ///   - accept: Called on the thread of `loop` with each new connection, which has the option `SO_PASSCRED`.
    package convenience init(
        adopting descriptor: FileDescriptor,
        on loop: EventLoop,
        accept: @escaping @Sendable (FileDescriptor) -> Void
    ) {
        Self.reportSenders(on: descriptor)
        self.init(on: descriptor, isShared: true, loop, taking: Self.acceptsPerDedicatedPass, accept: accept)
    }

    /// Sets the option `SO_PASSCRED` of a listening Unix socket.
    ///
    /// Connections inherit the option, so it applies to their first message, too.
    private static func reportSenders(on descriptor: FileDescriptor) {
        var on: Int32 = 1
        setsockopt(descriptor.raw, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private init(
        on descriptor: FileDescriptor,
        isShared: Bool,
        _ loop: EventLoop,
        taking share: Int,
        accept: @escaping @Sendable (FileDescriptor) -> Void
    ) {
        _ = fcntl(descriptor.raw, F_SETFL, fcntl(descriptor.raw, F_GETFL, 0) | O_NONBLOCK)
        self.descriptor = descriptor
        self.isShared = isShared
        port = Self.port(of: descriptor)
        self.loop = loop
        let pause = Pause(), isTCP = descriptor.isTCP
        // The loop is referenced weakly, so that the listener does not keep it alive.
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

    /// A pause in accepting connections, because file descriptors or memory have run out.
    ///
    /// Without the pause, the loop would try again and again.
    ///
    /// Sendable because everything happens on the thread of the loop, after the listener is created.
    private final class Pause: @unchecked Sendable {
        weak var watch: LoopWatch?
        /// True if the pause has been logged since the last accepted connection.
        var isNoted = false

        func begin(_ code: Int32, on loop: EventLoop) {
            watch?.interest = []
            _ = loop.alarm(at: loop.clock.now + SocketListener.retryPause) { [weak self] in
                self?.watch?.interest = .reading
            }
            guard !isNoted else { return }
            isNoted = true
            let cure = " Raise the limit with “ulimit -n” or, for a service, with LimitNOFILE in its systemd unit."
            let reason = "Cannot accept connections: \(String(cString: strerror(code)))."
            Logger.coreBluetooth.error("\(reason)\(code == EMFILE ? cure : "")")
        }
    }

    deinit { loop.post { [watch] in watch.cancel() } }

    /// Stops listening.
    ///
    /// Can be called on any thread.
    package func close() {
        watch.cancel()
        // shutdown(2) would also make the socket of the other process unusable.
        if !isShared { shutdown(descriptor.raw, Int32(SHUT_RDWR)) }
    }

    /// Accepts the next connection; returns `nil`, with the reason in `errno`, if there is none.
    private static func connection(at descriptor: FileDescriptor, isTCP: Bool) -> FileDescriptor? {
        let raw = accept_connection(descriptor.raw)
        guard raw >= 0 else { return nil }
        if isTCP {
            var on: Int32 = 1
            setsockopt(raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        return FileDescriptor(raw)
    }

    /// Returns the port of a TCP socket; 0 for a Unix socket.
    private static func port(of descriptor: FileDescriptor) -> UInt16 {
        var address = sockaddr_storage(), length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            let name = UnsafeMutableRawPointer(pointer)
            guard getsockname(descriptor.raw, name.assumingMemoryBound(to: sockaddr.self), &length) == 0 else {
                return 0
            }
            return switch Int32(pointer.pointee.ss_family) {
            case AF_INET: UInt16(bigEndian: name.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port)
            case AF_INET6: UInt16(bigEndian: name.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_port)
            default: 0
            }
        }
    }
}

/// The user and process at the other end of a Unix socket, according to the kernel.
package struct SocketPeer: Equatable, Sendable {
    /// The user ID.
    package let user: UInt32
    /// The process ID; 0 if the kernel hides the process.
    package let process: Int32
}

extension FileDescriptor {
    /// The user and process that opened the other end of a Unix socket; `nil` if the kernel does not report them.
    package var peer: SocketPeer? {
        // struct ucred: process, user, group.
        var facts: [Int32] = [0, 0, 0], size = socklen_t(12)
        guard getsockopt(raw, SOL_SOCKET, SO_PEERCRED, &facts, &size) == 0, size == 12 else { return nil }
        return SocketPeer(user: UInt32(bitPattern: facts[1]), process: facts[0])
    }

    /// Sends as many of the octets as the system accepts immediately, and drops the others.
    package func send(_ octets: [UInt8]) { _ = Glibc.send(raw, octets, octets.count, Int32(MSG_NOSIGNAL)) }
}
