import Glibc

/// A connected stream socket, run by a loop.
///
/// It reads everything that is available, and writes without blocking.
///
/// Octets that the system does not accept are queued. While the queue is longer than ``largeBacklog``, nothing is read;
/// beyond ``mostBacklog``, the stream ends. Sendable because everything happens on the loop's thread.
///
/// Exclusivity checks, which cost a hundred instructions each, are off for what each read or write uses: nothing is
/// called while it changes.
package final class SocketStream: @unchecked Sendable {
    /// The queue length beyond which the stream stops reading, in octets.
    package static let largeBacklog = 262_144
    /// The queue length beyond which the stream ends, in octets.
    package static let mostBacklog = 16_777_216
    /// The minimum distance between two recorded ends of writes, in octets; ``dropBacklog()`` drops the queue from such
    /// an end.
    private static let writeEndDistance = 65_536

    /// The maximum number of reads in ``catchUp()``, which is enough to empty the system's buffer.
    private static let mostReads = 1_024

    private enum State {
        case idle
        case open(LoopWatch)
        case closed
    }

    private let descriptor: FileDescriptor
    private let loop: EventLoop
    /// True to read everything that the other end sent before it closed the connection, even if writing is no longer
    /// possible.
    package var readsToTheEnd = false

    @exclusivity(unchecked) private var state = State.idle
    @exclusivity(unchecked) private var isPaused = false
    /// True if writing has failed; everything written is then dropped.
    @exclusivity(unchecked) private var dropsOutput = false
    @exclusivity(unchecked) private var backlog: [UInt8] = []
    @exclusivity(unchecked) private var written = 0
    /// The positions in ``backlog`` where writes ended, at least ``writeEndDistance`` apart.
    @exclusivity(unchecked) private var writeEnds: [Int] = []
    @exclusivity(unchecked) private var input: SocketInput
    @exclusivity(unchecked) private var receive: (Span<UInt8>) throws(TransportError) -> Void = { _ in }
    private var closed: (TransportError) -> Void = { _ in }

    /// Creates a stream; call ``start(receive:closed:)`` to start it.
    ///
    /// - Parameters:
    ///   - descriptor: The connected socket.
    ///   - loop: The loop that runs the stream.
    ///   - knowsSender: True for a Unix socket with the option `SO_PASSCRED`, which makes ``sender`` known.
    package init(_ descriptor: FileDescriptor, on loop: EventLoop, knowsSender: Bool = false) {
        self.descriptor = descriptor
        self.loop = loop
        input = SocketInput(of: descriptor, knowsSender: knowsSender)
    }

    deinit { close() }

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - receive: Called with received octets. If it throws, the stream closes with that error.
    ///   - closed: Called once when the stream has ended, unless ``close()`` has ended it.
    package func start(
        receive: @escaping @Sendable (Span<UInt8>) throws(TransportError) -> Void,
        closed: @escaping @Sendable (TransportError) -> Void
    ) {
        self.receive = receive
        self.closed = closed
        state = .open(loop.watch(descriptor, for: []) { [weak self] possible in self?.ready(possible) })
        updateInterest()
    }

    /// The user and process that opened the other end of a Unix socket; `nil` if the kernel does not report them.
    package var peer: SocketPeer? { descriptor.peer }

    /// The process that wrote the octets that were read last; 0 if the kernel does not say.
    ///
    /// It may differ from ``peer``, because processes can share a connection. All octets of one call of `receive` come
    /// from a single process.
    package var sender: Int32 { input.sender }

    /// True if the process of ``peer`` has ended; another process may have its ID now.
    ///
    /// Always false on kernels before Linux 6.5, which do not report this.
    package var hasPeerEnded: Bool {
        let option: Int32 = 77  // SO_PEERPIDFD
        var raw: Int32 = -1, size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor.raw, SOL_SOCKET, option, &raw, &size) == 0, raw >= 0 else {
            return errno != ENOPROTOOPT && errno != EOPNOTSUPP && errno != EMFILE
        }
        defer { Glibc.close(raw) }
        // The descriptor becomes readable when the process has ended.
        var question = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) > 0
    }

    /// The IDs of the groups that ``peer`` belongs to; empty if the kernel does not report them.
    package var peerGroups: [UInt32] {
        let option: Int32 = 59  // SO_PEERGROUPS
        var groups = [UInt32](repeating: 0, count: 1_024), size = socklen_t(4 * groups.count)
        guard getsockopt(descriptor.raw, SOL_SOCKET, option, &groups, &size) == 0 else { return [] }
        return Array(groups.prefix(Int(size) / 4))
    }

    /// The number of octets in the queue, which wait to be written.
    package var pendingOctets: Int { backlog.count - written }

    /// Queues `bytes` behind everything that was written before, and sends what the system accepts.
    package func write(_ bytes: Span<UInt8>) {
        guard case .open = state, !dropsOutput else { return }
        var offset = 0
        if pendingOctets == 0 {
            guard let taken = send(bytes) else { return }
            offset = taken
        }
        guard offset < bytes.count else { return }
        backlog.append(copying: bytes.extracting(offset..<bytes.count))
        if backlog.count - (writeEnds.last ?? 0) >= Self.writeEndDistance { writeEnds.append(backlog.count) }
        guard pendingOctets <= Self.mostBacklog else {
            return end(TransportError(.congested, "the peer has not read \(pendingOctets) octets"))
        }
        updateInterest()
    }

    /// Drops the end of the queue, without cutting a write in two.
    ///
    /// Keeps the unsent octets up to the next recorded end of a write, and drops the rest. Ends are recorded at least
    /// ``writeEndDistance`` octets apart.
    package func dropBacklog() {
        guard let writeEnd = writeEnds.first(where: { $0 >= written }), writeEnd < backlog.count else { return }
        backlog = Array(backlog[written..<writeEnd])
        (written, writeEnds) = (0, [backlog.count])
        updateInterest()
    }

    /// Stops reading until ``resume()``.
    package func pause() {
        isPaused = true
        updateInterest()
    }

    package func resume() {
        isPaused = false
        updateInterest()
    }

    /// Reads everything that the other end has written so far, and notices if the other end has closed the stream.
    package func catchUp() {
        for _ in 0..<Self.mostReads { guard readOnce() > 0 else { return } }
    }

    /// Closes the stream without calling `closed`.
    package func close() {
        guard case .open(let watch) = state else { return }
        state = .closed
        watch.cancel()
        shutdown(descriptor.raw, Int32(SHUT_RDWR))
        receive = { _ in }
        closed = { _ in }
    }

    private func end(_ error: TransportError) {
        guard case .open = state else { return }
        let closed = closed
        close()
        closed(error)
    }

    private func ready(_ possible: LoopWatch.Interest) {
        if possible.contains(.writing) { flush() }
        if possible.contains(.reading) { read() }
    }

    private var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    private var isReading: Bool {
        if case .open(let watch) = state { watch.interest.contains(.reading) } else { false }
    }

    /// Reads the octets that are available, but not so many that the loop's other work has to wait long.
    ///
    /// The loop calls this when octets arrive; a caller that cannot wait for the loop's next pass may call it earlier.
    package func read() {
        for _ in 0..<4 { guard isReading, readOnce() > 0, input.wasFilled else { return } }
    }

    /// Reads with one system call, and passes the octets on; returns their number.
    private func readOnce() -> Int {
        guard isOpen else { return 0 }
        switch input.take() {
        case .nothing: return 0
        case .ended(let code):
            end(TransportError(.closed, errno: code, "the connection was closed"))
            return 0
        case .octets(let range):
            deliver(range)
            return range.count
        }
    }

    /// Passes the octets in this part of the input buffer to the receiver.
    private func deliver(_ range: Range<Int>) {
        let bytes = input.buffer
        do throws(TransportError) {
            try receive(bytes.span.extracting(range))
        } catch {
            end(error)
        }
    }

    /// Sends as many of the octets as the system accepts, and returns their number; `nil` if sending has failed.
    private func send(_ bytes: Span<UInt8>) -> Int? {
        let count = bytes.withUnsafeBufferPointer { bytes in
            Glibc.send(descriptor.raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        if readsToTheEnd {
            dropsOutput = true
            (backlog, written, writeEnds) = ([], 0, [])
            updateInterest()
        } else {
            end(TransportError(.closed, errno: errno, "the connection broke"))
        }
        return nil
    }

    /// Sends as much of the queue as the system accepts, and returns the number of octets; `nil` if sending has failed.
    ///
    /// The queue may be dropped if sending fails.
    private func sendBacklog() -> Int? {
        let octets = backlog
        return send(octets.span.extracting(written..<octets.count))
    }

    private func flush() {
        guard case .open = state else { return }
        guard let taken = sendBacklog() else { return }
        written += taken
        if written == backlog.count {
            backlog.removeAll(keepingCapacity: backlog.count <= Self.largeBacklog)
            (written, writeEnds) = (0, [])
        } else if written > Self.largeBacklog {
            backlog.removeFirst(written)
            writeEnds = writeEnds.filter { $0 >= written }.map { $0 - written }
            written = 0
        }
        updateInterest()
    }

    /// Updates the events to wait for: input unless the stream is paused or its queue is long, and space if there is
    /// something to write.
    private func updateInterest() {
        guard case .open(let watch) = state else { return }
        let reads = !isPaused && pendingOctets <= Self.largeBacklog
        watch.interest = []
        if reads { watch.interest.insert(.reading) }
        if pendingOctets > 0 { watch.interest.insert(.writing) }
    }
}
