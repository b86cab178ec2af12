import BLEWire
import Glibc

/// The exclusive use of an adapter, until it is released.
///
/// If BlueZ was using the adapter before, the adapter is switched on for BlueZ again on release, which also happens
/// when the process exits.
final class AdapterLease: Sendable {
    private struct Weak: Sendable { weak let lease: AdapterLease? }

    /// The leases that must be released when the process exits.
    private static let open = Locked<[Weak]>([])
    private static let atEnd: Void = {
        atexit { for entry in AdapterLease.open.withLock({ $0 }) { entry.lease?.release() } }
        return ()
    }()

    let descriptor: FileDescriptor
    private let index: AdapterIndex
    private let client: Locked<ManagementClient?>
    private let isReleased = Locked(false)

    /// Creates a lease of the adapter that `descriptor` has opened.
    ///
    /// On release, `client` switches the adapter on again; if `client` is `nil`, the adapter stays off.
    init(_ index: AdapterIndex, _ descriptor: FileDescriptor, restoring client: ManagementClient?) {
        self.index = index
        self.descriptor = descriptor
        self.client = Locked(client)
        guard client != nil else { return }
        Self.open.withLock { list in list = list.filter { $0.lease != nil } + [Weak(lease: self)] }
        Self.atEnd
    }

    deinit { release() }

    /// Releases the adapter.
    ///
    /// Later calls have no effect.
    ///
    /// Other code may still hold the descriptor, so it is not closed: it is made to refer to an unconnected socket
    /// instead.
    func release() {
        let wasReleased = isReleased.withLock { released in
            defer { released = true }
            return released
        }
        guard !wasReleased else { return }
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let nobody = FileDescriptor(socket(AF_UNIX, kind, 0))
        if dup2(nobody.raw, descriptor.raw) >= 0 { _ = fcntl(descriptor.raw, F_SETFD, FD_CLOEXEC) }
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        try? client?.setPowered(true, index)
    }
}
