import BLEWire
import Glibc

/// A transport to a controller that listens on a TCP or Unix stream socket, such as a virtual controller or a bridge.
///
/// It connects without blocking, and connects again 100 ms after it has lost the connection. If the connection is
/// refused or closed immediately, or the data are not HCI, the delays between attempts grow to 5 s. An attempt tries
/// all addresses of a host name in order. Sendable because everything happens on the thread of the loop on which it was
/// started.
package final class SocketTransport: Transport, @unchecked Sendable {
    private enum State {
        case idle
        /// A connection is being made. If that fails, or `alarm` fires, the addresses in `rest` are tried.
        case connecting(FileDescriptor, LoopWatch, alarm: LoopAlarm?, rest: ArraySlice<SocketName>)
        /// There is a connection. `hasReceived` is true if valid packets have been received.
        case open(SocketStream, hasReceived: Bool)
        case waiting(LoopAlarm)
    }

    /// The time to wait for the answer of an address before the next address of the host name is tried.
    static let addressTimeout = Duration.seconds(2)

    private let address: SocketAddress
    private let resolve: () throws(TransportError) -> [SocketName]
    private var state = State.idle
    /// The time at which the connection was made.
    private var opened: Instant?
    private var backoff = Backoff()
    private var loop: EventLoop?
    private weak var client: (any TransportClient)?

    package convenience init(to address: SocketAddress) {
        self.init(to: address) { () throws(TransportError) in try address.names() }
    }

    /// Creates a transport to an address whose system addresses `resolve` returns, in the order to try them.
    init(to address: SocketAddress, resolve: @escaping () throws(TransportError) -> [SocketName]) {
        self.address = address
        self.resolve = resolve
    }

    deinit { disconnect() }

    package var name: String { address.description }

    package func start(for client: any TransportClient, on loop: EventLoop) {
        guard case .idle = state else { return }
        self.client = client
        self.loop = loop
        connect(on: loop)
    }

    package func send(_ packets: Span<UInt8>) {
        if case .open(let stream, _) = state { stream.write(packets) }
    }

    package func pause() {
        if case .open(let stream, _) = state { stream.pause() }
    }

    package func resume() {
        if case .open(let stream, _) = state { stream.resume() }
    }

    package func reset() {
        guard case .open = state else { return }
        if let opened, let loop, loop.clock.now - opened > Backoff.workingConnectionTime { backoff.succeeded() }
        gaveUp(TransportError(.closed, "it does not answer or cannot be reset"))
    }

    package func stop() {
        disconnect()
        backoff.succeeded()
    }

    private func connect(on loop: EventLoop) {
        do throws(TransportError) {
            try connect(to: try resolve()[...], on: loop)
        } catch {
            failed(error)
        }
    }

    /// Connects to the first of `names` that does not fail immediately.
    ///
    /// - Throws: The error for the last one if all fail immediately.
    private func connect(to names: ArraySlice<SocketName>, on loop: EventLoop) throws(TransportError) {
        var rest = names, failure = TransportError.unconnected(address, errno: EADDRNOTAVAIL)
        while let name = rest.popFirst() {
            do throws(TransportError) {
                var isConnected = false
                let descriptor = try address.makeSocket(for: name) { (socket, name, length) throws(TransportError) in
                    if Glibc.connect(socket, name, length) == 0 {
                        isConnected = true
                    } else if errno != EINPROGRESS {
                        throw TransportError.unconnected(self.address, errno: errno)
                    }
                }
                if isConnected { open(descriptor, on: loop) } else { awaitConnection(of: descriptor, rest, on: loop) }
                return
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func awaitConnection(of descriptor: FileDescriptor, _ rest: ArraySlice<SocketName>, on loop: EventLoop) {
        let watch = loop.watch(descriptor, for: .writing) { [weak self] _ in self?.finishConnecting() }
        // Without another address, the system decides when the attempt has failed.
        let alarm =
            rest.isEmpty
            ? nil
            : loop.alarm(at: loop.clock.now + Self.addressTimeout) { [weak self] in
                self?.connectToNext(errno: ETIMEDOUT)
            }
        state = .connecting(descriptor, watch, alarm: alarm, rest: rest)
    }

    private func finishConnecting() {
        guard case .connecting(let descriptor, let watch, let alarm, _) = state, let loop else { return }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor.raw, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { return connectToNext(errno: code) }
        watch.cancel()
        alarm?.cancel()
        open(descriptor, on: loop)
    }

    /// Gives up the current address because of a system error, and tries the next ones.
    private func connectToNext(errno code: Int32) {
        guard case .connecting(_, let watch, let alarm, let rest) = state, let loop else { return }
        watch.cancel()
        alarm?.cancel()
        do throws(TransportError) {
            guard !rest.isEmpty else { throw TransportError.unconnected(address, errno: code) }
            try connect(to: rest, on: loop)
        } catch {
            failed(error)
        }
    }

    private func open(_ descriptor: FileDescriptor, on loop: EventLoop) {
        backoff.connected()
        opened = loop.clock.now
        let stream = SocketStream(descriptor, on: loop)
        loop.allowPolling()
        state = .open(stream, hasReceived: false)
        stream.start(
            receive: { [weak self] (chunk) throws(TransportError) in try self?.receive(chunk) },
            closed: { [weak self] error in self?.closed(error) }
        )
        client?.transportOpened()
    }

    private func receive(_ chunk: Span<UInt8>) throws(TransportError) {
        try client?.transportReceived(chunk)
        if case .open(let stream, hasReceived: false) = state { state = .open(stream, hasReceived: true) }
    }

    private func closed(_ error: TransportError) {
        guard case .open(_, hasReceived: false) = state, error.code == .closed else { return lost(error) }
        lost(
            TransportError(
                .closed,
                "it closes the connection immediately; is it in use by another program?",
                cure: "End the other program, or check the controller's messages."
            )
        )
    }

    private func lost(_ error: TransportError) {
        guard case .open(_, hasReceived: true) = state, error.code != .garbage else { return gaveUp(error) }
        disconnect()
        backoff.succeeded()
        retry(after: Backoff.shortest)
        client?.transportClosed(error)
    }

    /// Closes the connection, because the other end is not a working controller at the moment.
    ///
    /// A new connection is tried after a delay, and the client is notified.
    private func gaveUp(_ error: TransportError) {
        disconnect()
        retry(after: backoff.failed().delay)
        if backoff.isAbsent { client?.transportAbsent(error) } else { client?.transportClosed(error) }
    }

    private func failed(_ error: TransportError) {
        let step = backoff.failed()
        retry(after: step.delay)
        if step.isAbsent { client?.transportAbsent(error) }
    }

    private func retry(after delay: Duration) {
        guard let loop else { return }
        state = .waiting(loop.alarm(at: loop.clock.now + delay) { [weak self] in self?.retry() })
    }

    private func retry() {
        guard case .waiting = state, let loop else { return }
        connect(on: loop)
    }

    private func disconnect() {
        switch state {
        case .connecting(_, let watch, let alarm, _):
            watch.cancel()
            alarm?.cancel()
        case .open(let stream, _): stream.close()
        case .waiting(let alarm): alarm.cancel()
        case .idle: break
        }
        state = .idle
    }
}
