import Glibc

/// The address of a stream socket.
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(host: String, port: UInt16)
    case unix(path: String)
    /// An abstract Unix socket, which has no file.
    case abstract(name: String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .abstract(let name): "unix:@\(name)"
        }
    }

    /// Connects to this Unix socket, and returns a non-blocking file descriptor.
    ///
    /// Do not use this for TCP addresses, because a TCP connection cannot be completed without blocking.
    ///
    /// - Throws: ``TransportError/Code/unreachable`` if the connection fails.
    package func connect() throws(TransportError) -> FileDescriptor {
        try makeSocket { (socket, name, length) throws(TransportError) in
            guard Glibc.connect(socket, name, length) == 0 else {
                let code = errno
                let problem = code == EAGAIN ? "\(self) has too many pending connections" : "cannot connect to \(self)"
                throw TransportError(.unreachable, errno: code, problem)
            }
        }
    }

    /// The maximum length of the path of a Unix socket in octets; unix(7).
    static let mostOctetsOfPath = 107

    /// Creates a non-blocking socket, and passes it to `body` together with this address in the system's form.
    ///
    /// If `body` throws, the socket is closed. A host name is resolved on the calling thread, which blocks until that
    /// is done.
    func makeSocket(
        _ body: (_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) throws(TransportError) ->
            Void
    ) throws(TransportError) -> FileDescriptor {
        switch self {
        case .tcp(let host, let port): try makeTCPSocket(host, port, body)
        case .unix(let path): try makeUnixSocket(path, isAbstract: false, body)
        case .abstract(let name): try makeUnixSocket(name, isAbstract: true, body)
        }
    }

    private func makeTCPSocket(
        _ host: String,
        _ port: UInt16,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) throws(TransportError) -> Void
    ) throws(TransportError) -> FileDescriptor {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, String(port), &hints, &list)
        guard failure == 0, let found = list?.pointee, let address = found.ai_addr else {
            throw .unknownName(host, String(cString: gai_strerror(failure)))
        }
        defer { freeaddrinfo(list) }
        let descriptor = try makeDescriptor(found.ai_family)
        var on: Int32 = 1
        setsockopt(descriptor.raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        try body(descriptor.raw, address, found.ai_addrlen)
        return descriptor
    }

    private func makeUnixSocket(
        _ name: String,
        isAbstract: Bool,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) throws(TransportError) -> Void
    ) throws(TransportError) -> FileDescriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The name of an abstract socket starts with an octet 0, and the length of the address determines its end.
        let octets = (isAbstract ? [0] : []) + Array(name.utf8), capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard octets.count < capacity else {
            throw TransportError(
                .unreachable,
                "the socket path \(name) is too long",
                cure: "Use a path of at most \(Self.mostOctetsOfPath) octets.",
                finding: .socketMissing
            )
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let size = MemoryLayout<sockaddr_un>.size - (isAbstract ? capacity - octets.count : 0)
        let descriptor = try makeDescriptor(AF_UNIX)
        let result: Result<Void, TransportError> = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Result { () throws(TransportError) in try body(descriptor.raw, pointer, socklen_t(size)) }
            }
        }
        try result.get()
        return descriptor
    }

    private func makeDescriptor(_ family: Int32) throws(TransportError) -> FileDescriptor {
        let raw = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { throw TransportError(.unreachable, errno: errno, "cannot create a socket for \(self)") }
        return FileDescriptor(raw)
    }
}

/// An open file, which is closed when this object is released.
///
/// A loop's watch retains the object, so that the file's number is not reused while the system may still poll it.
package final class FileDescriptor: Sendable {
    package let raw: Int32
    package init(_ raw: Int32) { self.raw = raw }
    deinit { close(raw) }

    var isTCP: Bool {
        var kind: Int32 = 0, size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(raw, SOL_SOCKET, SO_PROTOCOL, &kind, &size) == 0 && kind == Int32(IPPROTO_TCP)
    }
}

/// Two objects are equal only if they are the same object.
extension FileDescriptor: Hashable {
    package static func == (left: FileDescriptor, right: FileDescriptor) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
