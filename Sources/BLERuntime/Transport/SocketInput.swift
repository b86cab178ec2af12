import Glibc
import LinuxCalls

/// The receiving side of a stream socket, which can read octets or only peek at them.
///
/// Linux acknowledges TCP octets when a program reads them, usually in a separate segment, although the program's next
/// write would carry the acknowledgement at no cost. So a program that is about to respond only peeks at the request,
/// and reads it after it has written the response. Octets from other sockets are read immediately.
struct SocketInput {
    enum Step: Equatable {
        /// New octets are in this part of ``buffer``.
        case octets(Range<Int>)
        case nothing
        /// The stream has ended, with the system's error number, or 0 for a normal end.
        case ended(errno: Int32)
    }

    /// The maximum number of peeked octets that are left in the system until a response has been written; enough for
    /// several short requests.
    static let mostPeeked = 512
    /// The maximum number of peeked octets that are left after a response has been written.
    ///
    /// Peeking at more octets again costs more than reading them.
    static let mostKept = 160
    /// The size of a read in octets: the initial size, and the maximum for streams that fill the buffer repeatedly.
    private static let sizes = 4_096...65_536

    private let socket: FileDescriptor
    private let canPeek: Bool
    private(set) var buffer: [UInt8] = []
    /// The number of octets that were peeked at and not read.
    private var peeked = 0
    /// True if the last read filled the buffer; there may be more.
    private(set) var wasFilled = false

    /// True if the system reports which process wrote the octets that are read.
    private let knowsSender: Bool
    /// The process that wrote the octets that were read last; 0 if the system does not say.
    private(set) var sender: Int32 = 0

    init(of socket: FileDescriptor, knowsSender: Bool = false) {
        self.socket = socket
        self.knowsSender = knowsSender
        canPeek = socket.isTCP
    }

    /// Reads new octets into ``buffer``.
    mutating func take() -> Step {
        consumePeeked()
        return receive(0)
    }

    /// Peeks at all unread octets, and returns the range of the new ones in ``buffer``.
    ///
    /// Reads them instead if the socket does not support peeking.
    mutating func peek() -> Step {
        guard canPeek else { return take() }
        let step = receive(Int32(MSG_PEEK))
        guard case .octets(let all) = step else { return step }
        defer { peeked = all.count }
        return all.count > peeked ? .octets(peeked..<all.count) : .nothing
    }

    /// Reads the octets that were peeked at.
    ///
    /// Until they have been read, the system reports that the socket is readable.
    mutating func consumePeeked() {
        while peeked > 0 {
            // MSG_TRUNC makes the system discard TCP octets instead of copying them.
            let count = recv(socket.raw, nil, peeked, Int32(MSG_TRUNC))
            if count < 0, errno == EINTR { continue }
            // The next read reports the error.
            peeked = count > 0 ? peeked - count : 0
        }
    }

    /// Reads the peeked octets if there are more than ``mostKept``.
    ///
    /// Call this after a response has been written: the response has acknowledged these octets.
    mutating func consumeIfMany() {
        if peeked > Self.mostKept { consumePeeked() }
    }

    /// Reads the peeked octets if there are more than ``mostPeeked``, without waiting until a response has been
    /// written.
    mutating func consumeIfTooMany() {
        if peeked > Self.mostPeeked { consumePeeked() }
    }

    private mutating func receive(_ flags: Int32) -> Step {
        if buffer.isEmpty || wasFilled { grow() }
        let count =
            knowsSender
            ? receive_from_process(socket.raw, &buffer, UInt(buffer.count), &sender)
            : recv(socket.raw, &buffer, buffer.count, flags)
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
