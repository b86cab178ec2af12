import BLERuntime
import Glibc

/// The socket activation and notification protocols of systemd, implemented without its library.
///
/// See sd_listen_fds(3) and sd_notify(3).
enum ServiceActivation {
    /// Returns the listening socket that the service manager has passed; `nil` if it has passed none.
    static func takeSocket() -> FileDescriptor? {
        guard number("LISTEN_PID") == getpid(), let count = number("LISTEN_FDS"), count > 0 else { return nil }
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        let first: Int32 = 3
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        return FileDescriptor(first)
    }

    /// Sends a state, such as `READY=1`, to the service manager.
    static func tell(_ state: String) {
        guard let place = environment("NOTIFY_SOCKET") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(place.utf8)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: octets)
            // The environment variable writes @ for the octet 0 at the start of an abstract socket's name.
            if octets.first == UInt8(ascii: "@") { path[0] = 0 }
        }
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let descriptor = FileDescriptor(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let size = socklen_t(prefix + octets.count)
                return sendto(descriptor.raw, state, state.utf8.count, Int32(MSG_NOSIGNAL), pointer, size)
            }
        }
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func number(_ name: String) -> Int32? { environment(name).flatMap { Int32($0) } }
}
