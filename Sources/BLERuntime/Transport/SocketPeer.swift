import Glibc

/// Who is at the other end of a Unix socket, as the kernel says.
package struct SocketPeer: Equatable, Sendable {
    /// The number of the user.
    package let user: UInt32
    /// The process; 0 if the kernel hides it.
    package let process: Int32
}

extension FileDescriptor {
    /// The process at the other end of a Unix socket, or which made it; `nil` if the kernel cannot say.
    package var peer: SocketPeer? {
        // struct ucred: process, user, group.
        var facts: [Int32] = [0, 0, 0], size = socklen_t(12)
        guard getsockopt(raw, SOL_SOCKET, SO_PEERCRED, &facts, &size) == 0, size == 12 else { return nil }
        return SocketPeer(user: UInt32(bitPattern: facts[1]), process: facts[0])
    }

    /// Sends octets as far as the system takes them at once.
    package func send(_ octets: [UInt8]) { _ = Glibc.send(raw, octets, octets.count, Int32(MSG_NOSIGNAL)) }
}
