import Glibc

/// A connected stream socket on one loop: reads all there is, writes without waiting.
///
/// What the system does not take at once is kept and written when it can be. While much is kept, nothing is read: a
/// peer that does not listen is not listened to. What exceeds ``mostBacklog`` ends the stream.
/// Sendable because everything happens on the thread of its loop.
package final class SocketStream: @unchecked Sendable {
    /// How many octets may wait to be written before the stream stops reading.
    package static let largeBacklog = 262_144
    /// How many octets may wait to be written before the stream gives up.
    package static let mostBacklog = 16_777_216
    /// How many octets lie at least between two places at which the backlog can be cut.
    private static let seamDistance = 65_536

    /// How many reads empty what the system holds for a stream, whose buffers are smaller than that.
    private static let mostReads = 1_024

    private enum State {
        case idle
        case open(LoopWatch)
        case closed
    }

    private let descriptor: Descriptor
    private let loop: EventLoop
    /// Whether all that the other end said before it went is read, also when nothing can be written any more.
    package var readsToTheEnd = false

    private var state = State.idle
    private var isPaused = false
    /// Whether nobody reads what is written.
    private var isUnheard = false
    private var backlog: [UInt8] = []
    private var written = 0
    /// Where in the backlog what was written at once ends, as far as that is remembered.
    private var seams: [Int] = []
    @exclusivity(unchecked) private var intake: SocketIntake
    /// How long the other end takes to answer.
    @exclusivity(unchecked) private var delay = AnswerDelay()
    private var receive: (Span<UInt8>) throws(TransportError) -> Void = { _ in }
    private var closed: (TransportError) -> Void = { _ in }

    /// Creates a stream that begins with ``start(receive:closed:)``.
    ///
    /// It `knowsSender` if the descriptor is a Unix socket with `SO_PASSCRED`.
    package init(_ descriptor: Descriptor, on loop: EventLoop, knowsSender: Bool = false) {
        self.descriptor = descriptor
        self.loop = loop
        intake = SocketIntake(of: descriptor, knowsSender: knowsSender)
    }

    deinit { close() }

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - receive: Hears of what arrived; the stream closes with what it throws.
    ///   - closed: Called once when the stream ends, unless ``close()`` ended it.
    package func start(
        receive: @escaping @Sendable (Span<UInt8>) throws(TransportError) -> Void,
        closed: @escaping @Sendable (TransportError) -> Void
    ) {
        self.receive = receive
        self.closed = closed
        state = .open(loop.watch(descriptor, for: []) { [weak self] possible in self?.ready(possible) })
        updateInterest()
    }

    /// Who is at the other end of a Unix socket, or made it; `nil` if the kernel cannot say.
    package var peer: SocketPeer? { descriptor.peer }

    /// The process that wrote what was read last, which may differ from ``peer`` if processes share a connection; 0 if
    /// the kernel does not say.
    ///
    /// What ``start(receive:closed:)`` receives at once was written by one process.
    package var sender: Int32 { intake.sender }

    /// Whether the process of ``peer`` has ended, so that its number may be another one's by now; `false` where the
    /// kernel, before Linux 6.5, cannot say.
    package var hasPeerEnded: Bool {
        let option: Int32 = 77  // SO_PEERPIDFD
        var raw: Int32 = -1, size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor.raw, SOL_SOCKET, option, &raw, &size) == 0, raw >= 0 else {
            return errno != ENOPROTOOPT && errno != EOPNOTSUPP && errno != EMFILE
        }
        defer { Glibc.close(raw) }
        // It can be read when the process has ended.
        var question = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) > 0
    }

    /// The numbers of all groups of whose program ``peer`` is, as far as the kernel can say.
    package var peerGroups: [UInt32] {
        let option: Int32 = 59  // SO_PEERGROUPS
        var groups = [UInt32](repeating: 0, count: 1_024), size = socklen_t(4 * groups.count)
        guard getsockopt(descriptor.raw, SOL_SOCKET, option, &groups, &size) == 0 else { return [] }
        return Array(groups.prefix(Int(size) / 4))
    }

    /// How many octets wait to be written.
    package var pendingOctets: Int { backlog.count - written }

    /// Writes `bytes` after all that was written before.
    package func write(_ bytes: Span<UInt8>) {
        guard case .open = state, !isUnheard else { return }
        var offset = 0
        if pendingOctets == 0 {
            guard let taken = send(bytes) else { return }
            offset = taken
            intake.takeMuch()
            delay.said(bytes.count, at: loop.clock.now)
        }
        guard offset < bytes.count else { return }
        backlog.append(copying: bytes.extracting(offset..<bytes.count))
        if backlog.count - (seams.last ?? 0) >= Self.seamDistance { seams.append(backlog.count) }
        guard pendingOctets <= Self.mostBacklog else {
            return end(TransportError(.congested, "the other end has not read \(pendingOctets) octets"))
        }
        updateInterest()
    }

    /// Forgets what waits to be written, but for what ``write(_:)`` was given at once and of which a part is gone, and
    /// some that follows it.
    package func dropBacklog() {
        guard let seam = seams.first(where: { $0 >= written }), seam < backlog.count else { return }
        backlog = Array(backlog[written..<seam])
        (written, seams) = (0, [backlog.count])
        updateInterest()
    }

    /// Reads no more until ``resume()``.
    package func pause() {
        isPaused = true
        updateInterest()
    }

    package func resume() {
        isPaused = false
        updateInterest()
    }

    /// Reads what there is; returns whether there was something, or it has ended.
    ///
    /// It does not while the stream is paused, or before an answer can be expected.
    ///
    /// What comes over TCP is left with the system until something is written or ``letGo()`` is called, so that an
    /// answer acknowledges what it answers, unless it is a stream to which nothing is written.
    package func readIfAny() -> Bool {
        guard isReading else { return false }
        let now = loop.clock.now
        guard delay.isOver(at: now) else { return false }
        let count = readOnce(looking: !delay.hearsStream)
        guard count > 0 else {
            delay.heardNothing()
            return !isOpen
        }
        delay.heard(count, at: now)
        return true
    }

    /// Takes what ``readIfAny()`` has left with the system, which goes on to say until then that there is something to
    /// read.
    package func letGo() { intake.takeSeen() }

    /// Reads at once all that the other end has written so far, and notices if it has ended the stream.
    package func catchUp() {
        for _ in 0..<Self.mostReads { guard readOnce() > 0 else { return } }
    }

    /// Ends the stream without a word.
    package func close() {
        guard case .open(let watch) = state else { return }
        state = .closed
        watch.cancel()
        // The system breaks a connection off when it closes with something to read.
        intake.takeSeen()
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

    /// Reads until the system has no more, but lets others have the loop now and then.
    private func read() {
        for _ in 0..<4 { guard isReading, readOnce() > 0, intake.wasFilled else { return } }
    }

    /// Hands over what one call of the system gives; returns how many octets that was.
    private func readOnce(looking: Bool = false) -> Int {
        guard isOpen else { return 0 }
        switch looking ? intake.look() : intake.take() {
        case .nothing: return 0
        case .ended(let code):
            end(TransportError(.closed, errno: code, "the connection was closed"))
            return 0
        case .octets(let range):
            handOver(range)
            intake.takeTooMuch()
            return range.count
        }
    }

    /// Gives what was read to whoever receives it.
    private func handOver(_ range: Range<Int>) {
        let bytes = intake.buffer
        do throws(TransportError) {
            try receive(bytes.span.extracting(range))
        } catch {
            end(error)
        }
    }

    /// Sends what the system takes now and says how much that was; `nil` if the stream ended over it.
    private func send(_ bytes: Span<UInt8>) -> Int? {
        let count = bytes.withUnsafeBufferPointer { bytes in
            Glibc.send(descriptor.raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        if readsToTheEnd {
            isUnheard = true
            (backlog, written, seams) = ([], 0, [])
            updateInterest()
        } else {
            end(TransportError(.closed, errno: errno, "the connection broke"))
        }
        return nil
    }

    /// Sends of the backlog what the system takes now; the backlog may be gone when that fails.
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
            (written, seams) = (0, [])
        } else if written > Self.largeBacklog {
            backlog.removeFirst(written)
            seams = seams.filter { $0 >= written }.map { $0 - written }
            written = 0
        }
        updateInterest()
    }

    /// Reads if nothing stands against it, and waits for room if there is something to write.
    private func updateInterest() {
        guard case .open(let watch) = state else { return }
        let reads = !isPaused && pendingOctets <= Self.largeBacklog
        watch.interest = []
        if reads { watch.interest.insert(.reading) }
        if pendingOctets > 0 { watch.interest.insert(.writing) }
    }
}
