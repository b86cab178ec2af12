import BLEWire
import Glibc

/// A watch for adapters that are plugged in, or released by a program.
///
/// BlueZ, doc/mgmt-protocol.rst. Sendable because it is used only on its loop's thread.
final class AdapterWatch: @unchecked Sendable {
    private let descriptor: FileDescriptor
    private let added: @Sendable () -> Void
    private var watch: LoopWatch?
    private var buffer = [UInt8](repeating: 0, count: 2_048)

    /// Starts to watch on a socket from ``AdapterKernel/openManagement()``, until this object is released.
    ///
    /// `added` is called when adapters have appeared.
    init(_ descriptor: FileDescriptor, on loop: EventLoop, added: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.added = added
        watch = loop.watch(descriptor, for: .reading) { [weak self] _ in self?.read() }
    }

    deinit { watch?.cancel() }

    private func read() {
        var isAdded = false
        while true {
            let count = recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count > 0 else {
                watch?.cancel()
                break
            }
            // Events about new adapters can always be decoded, so packets that cannot be decoded are skipped.
            guard let event = try? ManagementEvent(decoding: Array(buffer[..<count])) else { continue }
            switch event.body {
            case .indexAdded, .extendedIndexAdded: isAdded = true
            case .indexRemoved, .extendedIndexRemoved, .newSettings, .commandComplete, .commandStatus, .unknown: break
            }
        }
        if isAdded { added() }
    }
}
