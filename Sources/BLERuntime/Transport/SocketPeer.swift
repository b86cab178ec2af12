import Glibc

/// The user and process at the other end of a Unix socket, according to the kernel.
package struct SocketPeer: Equatable, Sendable {
    /// The user's number.
    package let user: UInt32
    /// The process number; 0 if the kernel hides the process.
    package let process: Int32
}

extension FileDescriptor {
    /// The process at the other end of a Unix socket, or the one that created the socket; `nil` if the kernel does not
    /// say.
    package var peer: SocketPeer? {
        // struct ucred: process, user, group.
        var facts: [Int32] = [0, 0, 0], size = socklen_t(12)
        guard getsockopt(raw, SOL_SOCKET, SO_PEERCRED, &facts, &size) == 0, size == 12 else { return nil }
        return SocketPeer(user: UInt32(bitPattern: facts[1]), process: facts[0])
    }

    /// Sends as many of the octets as the system accepts immediately, and drops the others.
    package func send(_ octets: [UInt8]) { _ = Glibc.send(raw, octets, octets.count, Int32(MSG_NOSIGNAL)) }
}
