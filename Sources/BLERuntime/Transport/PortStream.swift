import BLEWire
import Glibc

/// A controller's port on one loop: reads all there is, and writes without waiting.
///
/// What the system does not take at once is kept and written when it can be. While much is kept, nothing is read. What
/// exceeds ``SocketStream/mostBacklog`` ends the stream.
/// Sendable because everything happens on the thread of its loop.
final class PortStream: @unchecked Sendable {
    /// What a stream tells its owner.
    protocol Owner: AnyObject, Sendable {
        /// The host may speak, and before it could not.
        func portReady()
        /// Whole packets came.
        func portReceived(_ packets: Span<UInt8>) throws(TransportError)
        /// The stream has ended by itself.
        func portClosed(_ error: TransportError)
    }

    private static let readSize = 65_536

    private let port: OpenPort
    private let loop: EventLoop
    private var line: any Line
    private weak var owner: (any Owner)?
    private var watch: LoopWatch?
    private var silence: LoopAlarm?
    private var backlog: [[UInt8]] = []
    private var pendingOctets = 0
    private var isPaused = false
    /// Whether something was read since this was last set to `false`.
    private var hasRead = false
    private var buffer = [UInt8](repeating: 0, count: readSize)

    init(_ port: OpenPort, on loop: EventLoop, owner: any Owner) {
        self.port = port
        self.loop = loop
        self.owner = owner
        line = port.line
    }

    deinit { close() }

    /// Begins to read, and to write what the line begins with.
    func start() {
        watch = loop.watch(port.descriptor, for: []) { [weak self] possible in self?.ready(possible) }
        write(line.begin())
        updateInterest()
        if line.isReady { owner?.portReady() }
    }

    private func ready(_ possible: LoopWatch.Interest) {
        if possible.contains(.writing) { flush() }
        if possible.contains(.reading) { read() }
    }

    /// Writes whole packets after all that was written before.
    func send(_ packets: Span<UInt8>) {
        guard watch != nil else { return }
        write(line.send(packets))
    }

    var pauses: Bool {
        get { isPaused }
        set {
            isPaused = newValue
            updateInterest()
        }
    }

    /// Ends the stream without a word, and gives the port back.
    func close() {
        guard let watch else { return }
        self.watch = nil
        silence?.cancel()
        watch.cancel()
        port.release()
    }

    private func end(_ error: TransportError) {
        guard watch != nil else { return }
        close()
        owner?.portClosed(error)
    }

    /// Reads until the system has no more, but lets others have the loop now and then.
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
        let wasReady = line.isReady
        var packets: [UInt8] = []
        hasRead = true
        do throws(TransportError) {
            try line.receive(buffer.span.extracting(0..<count)) { packets.append(copying: $0) }
            if !wasReady, line.isReady { owner?.portReady() }
            if !packets.isEmpty { try owner?.portReceived(packets.span) }
            // What comes while the line is not ready may be noise without an end.
            if wasReady || line.isReady { listen() }
        } catch {
            end(error)
        }
    }

    private func write(_ writes: [[UInt8]]) {
        backlog += writes
        pendingOctets += writes.reduce(0) { $0 + $1.count }
        flush()
        guard pendingOctets <= SocketStream.mostBacklog else {
            return end(TransportError(.congested, "the controller has not taken \(pendingOctets) octets"))
        }
        if silence == nil { listen() }
    }

    /// Writes what the system takes now.
    private func flush() {
        var written = 0
        while written < backlog.count, watch != nil {
            let count = backlog[written].withUnsafeBytes { Glibc.write(port.descriptor.raw, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN || errno == EINTR || errno == ENOBUFS { break }
            if count < 0, errno == ENOTCONN {
                // The port was given back, since the process ends.
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

    /// Reads if nothing stands against it, and waits for room if there is something to write.
    private func updateInterest() {
        guard let watch else { return }
        watch.interest = backlog.isEmpty ? [] : .writing
        if !isPaused, pendingOctets <= SocketStream.largeBacklog { watch.interest.insert(.reading) }
    }

    /// Waits anew for what is to come.
    private func listen() {
        silence?.cancel()
        silence = nil
        guard watch != nil, let patience = line.patience else { return }
        silence = loop.alarm(at: loop.clock.now + patience) { [weak self] in self?.expire() }
    }

    private func expire() {
        silence = nil
        guard let watch else { return }
        // Where this thread had to wait, or may not read, the line need not have been silent.
        guard watch.interest.contains(.reading) else { return listen() }
        hasRead = false
        read()
        guard !hasRead, self.watch != nil else { return }
        var packets: [UInt8] = []
        do throws(TransportError) {
            let writes = try line.expire { packets.append(copying: $0) }
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
            default: "the controller broke off"
            }
        return TransportError(.closed, errno: number, what)
    }
}
