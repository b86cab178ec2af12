import Glibc
import LinuxCalls

/// The reading side of a stream socket: takes what the system has, or looks at it first.
///
/// Linux acknowledges octets of TCP when a program takes them, mostly with a segment of its own, though whatever the
/// program writes next carries the same for nothing. So a program that is about to answer looks at the question, and
/// takes it when it has written the answer. Other sockets acknowledge nothing, and what is looked at is taken.
struct SocketIntake {
    enum Step: Equatable {
        /// These octets of ``buffer`` have not been there before.
        case octets(Range<Int>)
        case nothing
        /// The other end says no more, for the reason that the system gives; 0 if it ended well.
        case ended(errno: Int32)
    }

    /// How many octets may be left with the system that have been looked at: some short questions.
    static let mostSeen = 512
    /// How many are left when an answer has been written: to look again at many costs more than to take them.
    static let mostKept = 160
    /// How much is read at once at first, and by whoever had as much to read again and again.
    private static let sizes = 4_096...65_536

    private let socket: Descriptor
    private let canLook: Bool
    private(set) var buffer: [UInt8] = []
    /// How many octets have been looked at and not been taken.
    private var seen = 0
    /// Whether the last step filled the buffer, so that there may be more to read.
    private(set) var wasFilled = false

    /// Whether the system tells which process wrote what is read.
    private let knowsSender: Bool
    /// The process that wrote what was read last; 0 if the system does not tell.
    private(set) var sender: Int32 = 0

    init(of socket: Descriptor, knowsSender: Bool = false) {
        self.socket = socket
        self.knowsSender = knowsSender
        canLook = socket.isTCP
    }

    /// Reads into ``buffer`` what has not been looked at.
    mutating func take() -> Step {
        takeSeen()
        return receive(0)
    }

    /// Reads into ``buffer``, behind what was looked at before, what came since; the system keeps all of it.
    mutating func look() -> Step {
        guard canLook else { return take() }
        let step = receive(Int32(MSG_PEEK))
        guard case .octets(let all) = step else { return step }
        defer { seen = all.count }
        return all.count > seen ? .octets(seen..<all.count) : .nothing
    }

    /// Takes what was looked at, of which the system says until then that it can be read.
    mutating func takeSeen() {
        while seen > 0 {
            // Of TCP, the system drops what there is no room for.
            let count = recv(socket.raw, nil, seen, Int32(MSG_TRUNC))
            if count < 0, errno == EINTR { continue }
            // The next step says what is wrong.
            seen = count > 0 ? seen - count : 0
        }
    }

    /// Takes what was looked at if that is much: an answer, which has been written, acknowledges it then.
    mutating func takeMuch() {
        if seen > Self.mostKept { takeSeen() }
    }

    /// Takes what was looked at if that is too much to keep for an answer.
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
