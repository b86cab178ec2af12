import BLERuntime

/// A controller's end of a socket, told what to do by a test.
final class ScriptedController: Sendable {
    private struct State {
        var address = SocketAddress.unix(path: "")
        var listener: SocketListener?
        var stream: SocketStream?
        var received: [UInt8] = []
        var waiting: (count: Int, resume: CheckedContinuation<[UInt8], Never>)?
    }

    private let loop = EventLoop("test-control")
    private let state = Locked(State())
    private let (connections, accepted) = AsyncStream.makeStream(of: Void.self)

    /// Listens at a free port, or a Unix socket of its own; `isReading` is whether it reads before ``read()``.
    convenience init(isUnix: Bool = false, isReading: Bool = true) throws {
        let path = "/tmp/hci-\(UInt64.random(in: 0 ... .max))"
        try self.init(at: isUnix ? .unix(path: path) : .tcp(host: "127.0.0.1", port: 0), isReading: isReading)
    }

    init(at address: SocketAddress, isReading: Bool = true) throws {
        loop.start()
        let listener = try SocketListener(at: address, on: loop) { [weak self] stream in
            self?.accept(stream, isReading: isReading)
        }
        state.withLock { state in
            state.listener = listener
            state.address = address
            if case .tcp(let host, _) = address { state.address = .tcp(host: host, port: listener.port) }
        }
    }

    /// Where it listens.
    var address: SocketAddress { state.withLock { $0.address } }

    /// Waits for the next connection, which is the one to send to from then on.
    func nextConnection() async { await connections.first { _ in true } }

    func send(_ bytes: [UInt8]) {
        loop.post { [self] in state.withLock { $0.stream }?.write(bytes.span) }
    }

    /// Starts to read.
    func read() {
        loop.post { [self] in state.withLock { $0.stream }?.resume() }
    }

    /// Ends the connection, and takes the next one.
    func drop() {
        loop.post { [self] in state.withLock { $0.stream }?.close() }
    }

    /// Ends the connection and listens no more.
    func stop() {
        loop.post { [self] in
            state.withLock { state in
                state.stream?.close()
                state.listener = nil
            }
        }
    }

    /// What has arrived, as soon as that is `count` octets.
    func received(_ count: Int) async -> [UInt8] {
        await withCheckedContinuation { resume in
            state.withLock { $0.waiting = (count, resume) }
            loop.post { [self] in check() }
        }
    }

    private func accept(_ stream: SocketStream, isReading: Bool) {
        if !isReading { stream.pause() }
        state.withLock { $0.stream = stream }
        defer { accepted.yield() }
        stream.start { [weak self] chunk in
            self?.state.withLock { state in chunk.withUnsafeBufferPointer { state.received.append(contentsOf: $0) } }
            self?.check()
        } closed: { _ in
        }
    }

    private func check() {
        state.withLock { state in
            guard let waiting = state.waiting, state.received.count >= waiting.count else { return }
            state.waiting = nil
            waiting.resume.resume(returning: state.received)
        }
    }
}
