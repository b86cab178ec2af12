import BLESession
import BLEWire
import Dispatch
import Glibc
import Testing

/// A program that says what it likes, and what it is told.
final class RawApp {
    private let socket: Int32
    /// The connection.
    var descriptor: Int32 { socket }
    private var reader = FrameReader()

    init(at path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, size) }
        }
        try #require(result == 0)
        // Who is told nothing for so long goes on as if the connection had ended.
        var patience = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Connects, and sends a message.
    convenience init(at path: String, saying message: AppMessage) throws {
        try self.init(at: path)
        say(message)
    }

    deinit { close(socket) }

    /// Ends the connection, from any thread.
    var ending: @Sendable () -> Void { { [socket] in _ = shutdown(socket, Int32(SHUT_RDWR)) } }

    /// Says something; `false` if nobody listens any more.
    @discardableResult
    func say(_ octets: [UInt8]) -> Bool { send(socket, octets, octets.count, Int32(MSG_NOSIGNAL)) == octets.count }

    @discardableResult
    func say(_ message: AppMessage) -> Bool {
        var writer = FrameWriter(), octets: [UInt8] = []
        _ = writer.write(message)
        writer.take { octets = [UInt8](copying: $0) }
        return say(octets)
    }

    /// What is said until something is, or the connection ends.
    func listen(until isEnough: (DaemonMessage) -> Bool) async throws -> [DaemonMessage] {
        var messages: [DaemonMessage] = []
        while !messages.contains(where: isEnough) {
            let octets = await read()
            guard !octets.isEmpty else { break }
            try reader.receive(octets.span) { octets in
                if let message = try? DaemonMessage(reading: octets) { messages.append(message) }
            }
        }
        return messages
    }

    /// All that is said until the connection ends.
    func listen() async throws -> [DaemonMessage] { try await listen { _ in false } }

    /// What comes next, read on a thread that may wait; nothing at the end.
    private func read() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [socket] in
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = recv(socket, &buffer, buffer.count, 0)
                continuation.resume(returning: Array(buffer.prefix(max(0, count))))
            }
        }
    }
}
