import Glibc
import LinuxCalls

/// The receiving side of a stream socket, which takes octets or peeks at them.
///
/// Linux acknowledges TCP octets when a program takes them, usually with a segment of its own, although the next write
/// would carry the acknowledgement for free. So a program that is about to respond peeks at the request and takes it
/// after the response was written. Octets of other sockets are taken immediately.
struct SocketInput {
    enum Step: Equatable {
        /// New octets in ``buffer``.
        case octets(Range<Int>)
        case nothing
        /// The end of the stream, with the system's reason; 0 for a normal end.
        case ended(errno: Int32)
    }

    /// The maximum number of peeked octets that are left in the system: some short requests.
    static let mostSeen = 512
    /// The number that is left after a response was written: peeking at many again costs more than taking them.
    static let mostKept = 160
    /// The size of a read: initially, and for streams that fill it repeatedly.
    private static let sizes = 4_096...65_536

    private let socket: FileDescriptor
    private let canLook: Bool
    private(set) var buffer: [UInt8] = []
    /// The number of peeked octets.
    private var seen = 0
    /// True if the last read filled the buffer, so that there may be more.
    private(set) var wasFilled = false

    /// True if the system tells which process wrote what is read.
    private let knowsSender: Bool
    /// The process that wrote what was read last; 0 if the system does not tell.
    private(set) var sender: Int32 = 0

    init(of socket: FileDescriptor, knowsSender: Bool = false) {
        self.socket = socket
        self.knowsSender = knowsSender
        canLook = socket.isTCP
    }

    /// Takes new octets into ``buffer``.
    mutating func take() -> Step {
        takeSeen()
        return receive(0)
    }

    /// Peeks at new octets into ``buffer``, after those that were already peeked.
    mutating func look() -> Step {
        guard canLook else { return take() }
        let step = receive(Int32(MSG_PEEK))
        guard case .octets(let all) = step else { return step }
        defer { seen = all.count }
        return all.count > seen ? .octets(seen..<all.count) : .nothing
    }

    /// Takes the peeked octets, for which the system reports readiness until then.
    mutating func takeSeen() {
        while seen > 0 {
            // Of TCP, the system drops what there is no room for.
            let count = recv(socket.raw, nil, seen, Int32(MSG_TRUNC))
            if count < 0, errno == EINTR { continue }
            // The next step says what is wrong.
            seen = count > 0 ? seen - count : 0
        }
    }

    /// Takes the peeked octets if there are many; the response that was just written acknowledges them.
    mutating func takeMuch() {
        if seen > Self.mostKept { takeSeen() }
    }

    /// Takes the peeked octets if there are too many to wait for a response.
    mutating func takeTooMuch() {
        if seen > Self.mostSeen { takeSeen() }
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
