package import BLESession
import BLEWire
import Glibc
import LinuxCalls

/// A connection to the daemon for a single question, answered synchronously.
package struct DaemonQuery {
    /// The time limit for a question, from connecting to the complete answer.
    private static let timeout = Duration.seconds(5)

    private let address: SocketAddress

    /// Creates a query for the daemon at `path`.
    package init(at path: String) { address = .unix(path: path) }

    /// Asks a question and blocks the calling thread until the daemon answers.
    ///
    /// - Throws: ``TransportError/Code/unreachable`` if no daemon listens, ``TransportError/Code/closed`` if the daemon
    ///   does not answer in time or closes the connection, ``TransportError/Code/garbage`` if the response is invalid.
    package func ask(_ question: Question) throws(TransportError) -> Answer {
        let clock = MonotonicClock(), begun = clock.now
        let socket = try connect(until: begun + Self.timeout, clock)
        try send(question, to: socket)
        var reader = FrameReader(), buffer = [UInt8](repeating: 0, count: 65_536), answer: Answer?
        while answer == nil {
            try wait(for: socket, atMost: begun + Self.timeout - clock.now)
            let count = recv(socket.raw, &buffer, buffer.count, 0)
            guard count != 0 else { throw problem("closed the connection") }
            guard count > 0 else {
                guard errno == EAGAIN || errno == EINTR else { throw problem("did not answer", errno: errno) }
                continue
            }
            let octets = Array(buffer[..<count])
            do throws(FrameReader.Overlong) {
                try reader.receive(octets.span) { answer = answer ?? Self.answer(in: $0) }
            } catch {
                throw problem("sent invalid data (\(error))", .garbage)
            }
        }
        return answer ?? .done
    }

    /// Connects, and keeps trying until `end` while the daemon's queue of connections is full.
    private func connect(until end: Instant, _ clock: MonotonicClock) throws(TransportError) -> FileDescriptor {
        var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000)
        while true {
            do throws(TransportError) {
                return try address.connect()
            } catch {
                guard error.errno == EAGAIN, clock.now < end else { throw error }
                nanosleep(&pause, nil)
            }
        }
    }

    /// Returns an error whose context is `text` about this daemon.
    private func problem(_ text: String, _ code: TransportError.Code = .closed, errno: Int32 = 0) -> TransportError {
        TransportError(code, errno: errno, "the daemon at \(address) \(text)", cure: "Restart the daemon.")
    }

    private static func answer(in octets: Span<UInt8>) -> Answer? {
        switch try? DaemonMessage(reading: octets) {
        case .answer(let answer)?: answer
        case .refused(let refusal)?: .refused(refusal)
        default: nil
        }
    }

    private func send(_ question: Question, to socket: FileDescriptor) throws(TransportError) {
        var writer = FrameWriter(), octets: [UInt8] = []
        _ = writer.write(AppMessage.question(question))
        writer.take { octets = [UInt8](copying: $0) }
        // A new connection has room for a message of this size.
        guard Glibc.send(socket.raw, octets, octets.count, Int32(MSG_NOSIGNAL)) == octets.count else {
            throw problem("did not accept the request", errno: errno)
        }
    }

    private func wait(for socket: FileDescriptor, atMost rest: Duration) throws(TransportError) {
        let (seconds, attoseconds) = rest.components
        let milliseconds = max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        var watched = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
        let count = poll(&watched, 1, Int32(clamping: milliseconds))
        guard count != 0 else { throw problem("did not answer in time") }
    }
}
