import BLEWire
import Glibc

/// The stream of octets on a controller's open port, run by a loop.
///
/// It reads everything that is available, and writes without blocking.
///
/// Octets that the system does not accept are queued. While the queue is longer than ``SocketStream/largeBacklog``,
/// nothing is read; beyond ``SocketStream/mostBacklog``, the stream ends. Sendable because everything happens on the
/// loop's thread.
final class PortStream: @unchecked Sendable {
    /// The receiver of a stream's events.
    protocol Owner: AnyObject, Sendable {
        /// The framing is ready: the host may send from now on.
        func portReady()
        /// Packets were received. If the owner throws an error, the stream ends with it.
        func portReceived(_ packets: Span<UInt8>) throws(TransportError)
        /// The stream has ended with this error.
        func portClosed(_ error: TransportError)
    }

    private static let readSize = 65_536

    private let port: OpenPort
    private let loop: EventLoop
    private var framing: any PortFraming
    private weak var owner: (any Owner)?
    private var watch: LoopWatch?
    private var readTimer: LoopAlarm?
    private var backlog: [[UInt8]] = []
    private var pendingOctets = 0
    private var isPaused = false
    /// True if something was read after the read timeout had expired, which shows that the port was not silent.
    private var hasRead = false
    private var buffer = [UInt8](repeating: 0, count: readSize)

    init(_ port: OpenPort, on loop: EventLoop, owner: any Owner) {
        self.port = port
        self.loop = loop
        self.owner = owner
        framing = port.framing
    }

    deinit { close() }

    /// Starts to read, and writes the octets with which the framing begins.
    func start() {
        watch = loop.watch(port.descriptor, for: []) { [weak self] possible in self?.ready(possible) }
        write(framing.begin())
        updateInterest()
        if framing.isReady { owner?.portReady() }
    }

    private func ready(_ possible: LoopWatch.Interest) {
        if possible.contains(.writing) { flush() }
        if possible.contains(.reading) { read() }
    }

    /// Queues packets behind everything that was sent before, and writes what the system accepts.
    func send(_ packets: Span<UInt8>) {
        guard watch != nil else { return }
        write(framing.send(packets))
    }

    var pauses: Bool {
        get { isPaused }
        set {
            isPaused = newValue
            updateInterest()
        }
    }

    /// Closes the stream and the port, without calling the owner.
    func close() {
        guard let watch else { return }
        self.watch = nil
        readTimer?.cancel()
        watch.cancel()
        port.release()
    }

    private func end(_ error: TransportError) {
        guard watch != nil else { return }
        close()
        owner?.portClosed(error)
    }

    /// Reads the octets that are available, but not so many that the loop's other work has to wait long.
    private func read() {
        for _ in 0..<16 {
            guard watch?.interest.contains(.reading) == true else { return }
            let count = Glibc.read(port.descriptor.raw, &buffer, Self.readSize)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return end(Self.closed(count < 0 ? errno : 0)) }
            received(count)
        }
    }

    private func received(_ count: Int) {
        let wasReady = framing.isReady
        var packets: [UInt8] = []
        hasRead = true
        do throws(TransportError) {
            try framing.receive(buffer.span.extracting(0..<count)) { packets.append(copying: $0) }
            if !wasReady, framing.isReady { owner?.portReady() }
            if !packets.isEmpty { try owner?.portReceived(packets.span) }
            // Octets that are received before the line is ready may be endless noise, so they do not restart the
            // timeout.
            if wasReady || framing.isReady { listen() }
        } catch {
            end(error)
        }
    }

    private func write(_ writes: [[UInt8]]) {
        backlog += writes
        pendingOctets += writes.reduce(0) { $0 + $1.count }
        flush()
        guard pendingOctets <= SocketStream.mostBacklog else {
            return end(TransportError(.congested, "the controller has not read \(pendingOctets) octets"))
        }
        if readTimer == nil { listen() }
    }

    /// Writes as much of the queue as the system accepts.
    private func flush() {
        var written = 0
        while written < backlog.count, watch != nil {
            let count = backlog[written].withUnsafeBytes { Glibc.write(port.descriptor.raw, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN || errno == EINTR || errno == ENOBUFS { break }
            if count < 0, errno == ENOTCONN {
                // The adapter has been released because the process is exiting.
                pendingOctets = 0
                backlog.removeAll()
                return
            }
            guard count >= 0 else { return end(Self.closed(errno)) }
            pendingOctets -= count
            if count < backlog[written].count {
                backlog[written].removeFirst(count)
                break
            }
            written += 1
        }
        backlog.removeFirst(written)
        updateInterest()
    }

    /// Updates the events to wait for: input unless the stream is paused or its queue is long, and space if there is
    /// something to write.
    private func updateInterest() {
        guard let watch else { return }
        watch.interest = backlog.isEmpty ? [] : .writing
        if !isPaused, pendingOctets <= SocketStream.largeBacklog { watch.interest.insert(.reading) }
    }

    /// Restarts the timeout that runs while nothing is received.
    private func listen() {
        readTimer?.cancel()
        readTimer = nil
        guard watch != nil, let readTimeout = framing.readTimeout else { return }
        readTimer = loop.alarm(at: loop.clock.now + readTimeout) { [weak self] in self?.expire() }
    }

    private func expire() {
        readTimer = nil
        guard let watch else { return }
        // If this thread was busy or did not read, the line may not have been silent.
        guard watch.interest.contains(.reading) else { return listen() }
        hasRead = false
        read()
        guard !hasRead, self.watch != nil else { return }
        var packets: [UInt8] = []
        do throws(TransportError) {
            let writes = try framing.expire { packets.append(copying: $0) }
            if !packets.isEmpty { try owner?.portReceived(packets.span) }
            write(writes)
        } catch {
            end(error)
        }
    }

    private static func closed(_ number: Int32) -> TransportError {
        let what =
            switch number {
            case 0, EPIPE, ENODEV, ENXIO, EIO, EBADFD: "the controller was unplugged"
            case ENETDOWN: "the controller was switched off"
            default: "the controller failed"
            }
        return TransportError(.closed, errno: number, what)
    }
}
