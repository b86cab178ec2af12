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

    /// The maximum number of addresses to try for a host name; further ones are ignored.
    private static let mostNames = 8

    /// Creates a non-blocking socket, and passes it to `body` together with this address in the system's form.
    ///
    /// If `body` throws, the socket is closed. A host name is resolved on the calling thread, which blocks until that
    /// is done. If the name has several addresses, the socket is for the first one.
    func makeSocket(
        _ body: (_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) throws(TransportError) ->
            Void
    ) throws(TransportError) -> FileDescriptor {
        guard let name = try names().first else { throw .unknownName("\(self)", "no address") }
        return try makeSocket(for: name, body)
    }

    /// Creates a non-blocking socket, and passes it to `body` together with one of the ``names()`` of this address.
    ///
    /// If `body` throws, the socket is closed.
    func makeSocket(
        for name: SocketName,
        _ body: (_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) throws(TransportError) ->
            Void
    ) throws(TransportError) -> FileDescriptor {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let raw = socket(name.family, kind, 0)
        guard raw >= 0 else { throw TransportError(.unreachable, errno: errno, "cannot create a socket for \(self)") }
        let descriptor = FileDescriptor(raw)
        if name.family != AF_UNIX {
            var on: Int32 = 1
            setsockopt(raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        var storage = sockaddr_storage()
        let length = min(name.octets.count, MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: name.octets.prefix(length)) }
        let result: Result<Void, TransportError> = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Result { () throws(TransportError) in try body(raw, pointer, socklen_t(length)) }
            }
        }
        try result.get()
        return descriptor
    }

    /// Returns this address in the system's form.
    ///
    /// A host name may have several addresses, which are returned in the order to try them. The name is resolved on the
    /// calling thread, which blocks until that is done.
    func names() throws(TransportError) -> [SocketName] {
        switch self {
        case .tcp(let host, let port): try Self.names(ofHost: host, port)
        case .unix(let path): [try Self.name(ofPath: path, isAbstract: false)]
        case .abstract(let name): [try Self.name(ofPath: name, isAbstract: true)]
        }
    }

    private static func names(ofHost host: String, _ port: UInt16) throws(TransportError) -> [SocketName] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, String(port), &hints, &list)
        guard failure == 0 else { throw .unknownName(host, String(cString: gai_strerror(failure))) }
        defer { freeaddrinfo(list) }
        var names: [SocketName] = [], next = list
        while let found = next?.pointee, names.count < mostNames {
            next = found.ai_next
            guard let address = found.ai_addr else { continue }
            let octets = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(found.ai_addrlen)))
            let name = SocketName(family: found.ai_family, octets: octets)
            if !names.contains(name) { names.append(name) }
        }
        guard !names.isEmpty else { throw .unknownName(host, "no address") }
        return names
    }

    private static func name(ofPath path: String, isAbstract: Bool) throws(TransportError) -> SocketName {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The name of an abstract socket starts with an octet 0, and the length of the address determines its end.
        let octets = (isAbstract ? [0] : []) + Array(path.utf8), capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard octets.count < capacity else {
            throw TransportError(
                .unreachable,
                "the socket path \(path) is too long",
                cure: "Use a path of at most \(mostOctetsOfPath) octets.",
                finding: .socketMissing
            )
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let size = MemoryLayout<sockaddr_un>.size - (isAbstract ? capacity - octets.count : 0)
        return withUnsafeBytes(of: &address) { SocketName(family: AF_UNIX, octets: [UInt8]($0.prefix(size))) }
    }
}

/// The address of a socket in the system's form.
struct SocketName: Hashable, Sendable {
    /// The address family, such as `AF_INET6`.
    let family: Int32
    /// The octets of the structure `sockaddr`.
    let octets: [UInt8]
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

// Two objects are equal only if they are the same object.
extension FileDescriptor: Hashable {
    package static func == (left: FileDescriptor, right: FileDescriptor) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
