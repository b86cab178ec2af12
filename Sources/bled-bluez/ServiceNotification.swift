import BLERuntime
import Glibc

/// The notification protocol of systemd: sd_notify(3).
enum ServiceNotification {
    /// Notifies the service manager of a state, such as `READY=1`.
    static func send(_ state: String) {
        guard let place = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }) else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(place.utf8)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: octets)
            // The name of an abstract socket is written with @ for the octet 0.
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
}
