import Glibc
import LinuxCalls

/// The receiving side of a stream socket.
struct SocketInput {
    enum Step: Equatable {
        /// New octets are in this part of ``buffer``.
        case octets(Range<Int>)
        case nothing
        /// The stream has ended, with the system's error number, or 0 for a normal end.
        case ended(errno: Int32)
    }

    /// The size of a read in octets: the initial size, and the maximum for streams that fill the buffer repeatedly.
    private static let sizes = 4_096...65_536

    private let socket: FileDescriptor
    private(set) var buffer: [UInt8] = []
    /// True if the last read filled the buffer; there may be more.
    private(set) var wasFilled = false

    /// True if the system reports which process wrote the octets that are read.
    private let knowsSender: Bool
    /// The process that wrote the octets that were read last; 0 if the system does not say.
    private(set) var sender: Int32 = 0

    init(of socket: FileDescriptor, knowsSender: Bool = false) {
        self.socket = socket
        self.knowsSender = knowsSender
    }

    /// Reads new octets into ``buffer``.
    mutating func take() -> Step {
        if buffer.isEmpty || wasFilled { grow() }
        let count =
            knowsSender
            ? receive_from_process(socket.raw, &buffer, UInt(buffer.count), &sender)
            : recv(socket.raw, &buffer, buffer.count, 0)
        wasFilled = count == buffer.count
        if count > 0 { return .octets(0..<count) }
        let code = count < 0 ? errno : 0
        return code == EAGAIN || code == EINTR ? .nothing : .ended(errno: code)
    }

    private mutating func grow() {
        let size = buffer.isEmpty ? Self.sizes.lowerBound : min(4 * buffer.count, Self.sizes.upperBound)
        if size > buffer.count { buffer = [UInt8](repeating: 0, count: size) }
    }
}
