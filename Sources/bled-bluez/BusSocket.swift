import BLERuntime
import DBus
import Glibc

/// A connection to a D-Bus message bus, run by a loop; it can pass file descriptors.
///
/// Octets that the system does not accept are queued, and nothing is read while the queue is long. Sendable because
/// everything happens on the loop's thread.
final class BusSocket: @unchecked Sendable {
    private struct Part {
        var octets: ArraySlice<UInt8>
        var passed: FileDescriptor?
    }

    /// The length of the queue, in octets, above which nothing is read.
    private static let largeBacklog = 1_048_576
    private static let bufferSize = 65_536

    private let descriptor: FileDescriptor
    private let loop: EventLoop
    private var watch: LoopWatch?
    private var queue: [Part] = []
    /// The number of octets that wait to be written.
    private(set) var backlog = 0
    private var buffer = [UInt8](repeating: 0, count: BusSocket.bufferSize)
    private var receive: ([UInt8], [FileDescriptor]) -> Void = { _, _ in }
    private var closed: (String) -> Void = { _ in }

    init(_ descriptor: FileDescriptor, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - receive: Called with received octets and the file descriptors that came with them.
    ///   - closed: Called once at the end of the connection, with the reason.
    func start(receive: @escaping ([UInt8], [FileDescriptor]) -> Void, closed: @escaping (String) -> Void) {
        self.receive = receive
        self.closed = closed
        watch = loop.watch(descriptor, for: .reading) { [weak self] possible in self?.ready(possible) }
    }

    /// Writes octets, and passes a file descriptor, if there is one, with the first octet.
    func write(_ octets: [UInt8], passing passed: FileDescriptor? = nil) {
        guard watch != nil, !octets.isEmpty else { return }
        queue.append(Part(octets: octets[...], passed: passed))
        backlog += octets.count
        flush()
    }

    private func ready(_ possible: LoopWatch.Interest) {
        if possible.contains(.writing) { flush() }
        if possible.contains(.reading) { read() }
    }

    private func read() {
        guard watch != nil else { return }
        let (count, descriptors) = SocketMessage.receive(into: &buffer, from: descriptor.raw)
        if count > 0 {
            receive(Array(buffer[..<count]), descriptors)
        } else if count == 0 || errno != EAGAIN && errno != EINTR {
            end(count == 0 ? "the bus closed the connection" : String(cString: strerror(errno)))
        }
    }

    private func flush() {
        while let part = queue.first {
            let count = send(part)
            guard count >= 0 else {
                guard errno == EAGAIN || errno == EINTR else { return end(String(cString: strerror(errno))) }
                break
            }
            backlog -= count
            if count == part.octets.count {
                queue.removeFirst()
            } else {
                queue[0] = Part(octets: part.octets.dropFirst(count), passed: count > 0 ? nil : part.passed)
            }
        }
        updateInterest()
    }

    private func send(_ part: Part) -> Int {
        if let passed = part.passed { return SocketMessage.send(part.octets, passing: passed, to: descriptor.raw) }
        return part.octets.withUnsafeBytes {
            Glibc.send(descriptor.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    private func updateInterest() {
        guard let watch else { return }
        watch.interest = backlog > 0 ? .writing : []
        if backlog < Self.largeBacklog { watch.interest.insert(.reading) }
    }

    private func end(_ reason: String) {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        let closed = closed
        (receive, self.closed) = ({ _, _ in }, { _ in })
        closed(reason)
    }
}
