@preconcurrency package import Dispatch
import Glibc

/// HCI over a stream socket, TCP or Unix, as virtual controllers and bridges offer it.
///
/// Connects without blocking, and again with growing pauses of 100 ms to 5 s when it failed or was lost.
/// Sendable because everything happens on the queue that it was started on.
package final class SocketTransport: Transport, @unchecked Sendable {
    private enum State {
        case idle
        case connecting(Descriptor, any DispatchSourceWrite)
        case open(SocketStream)
        case waiting(any DispatchSourceTimer)
        case stopped
    }

    private let address: SocketAddress
    private var state = State.idle
    private var backoff = Backoff()
    private var queue: DispatchQueue?
    private weak var client: (any TransportClient)?

    package init(to address: SocketAddress) { self.address = address }

    deinit { disconnect() }

    package var name: String { address.description }

    package func start(for client: any TransportClient, on queue: DispatchQueue) {
        guard case .idle = state else { return }
        self.client = client
        self.queue = queue
        connect(on: queue)
    }

    package func send(_ packets: Span<UInt8>) {
        if case .open(let stream) = state { stream.write(packets) }
    }

    package func pause() {
        if case .open(let stream) = state { stream.pause() }
    }

    package func resume() {
        if case .open(let stream) = state { stream.resume() }
    }

    package func reset() {
        guard case .open = state else { return }
        lost(TransportError(.closed, "the connection was reset"))
    }

    package func stop() {
        disconnect()
        state = .stopped
    }

    private func connect(on queue: DispatchQueue) {
        do throws(TransportError) {
            var isConnected = false
            let descriptor = try address.makeSocket { (socket, address, length) throws(TransportError) in
                if Glibc.connect(socket, address, length) == 0 {
                    isConnected = true
                } else if errno != EINPROGRESS {
                    throw TransportError(.unreachable, errno: errno, "connecting to \(self.address)")
                }
            }
            if isConnected { open(descriptor, on: queue) } else { awaitConnection(of: descriptor, on: queue) }
        } catch {
            failed(error)
        }
    }

    private func awaitConnection(of descriptor: Descriptor, on queue: DispatchQueue) {
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor.raw, queue: queue)
        source.setEventHandler { [weak self] in self?.finishConnecting() }
        source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        state = .connecting(descriptor, source)
        source.activate()
    }

    private func finishConnecting() {
        guard case .connecting(let descriptor, let source) = state, let queue else { return }
        source.cancel()
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor.raw, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else {
            return failed(TransportError(.unreachable, errno: code, "connecting to \(address)"))
        }
        open(descriptor, on: queue)
    }

    private func open(_ descriptor: Descriptor, on queue: DispatchQueue) {
        backoff.succeeded()
        let stream = SocketStream(descriptor, queue: queue)
        state = .open(stream)
        stream.start(
            receive: { [weak self] (chunk) throws(TransportError) in try self?.client?.transportReceived(chunk) },
            closed: { [weak self] error in self?.lost(error) }
        )
        client?.transportOpened()
    }

    private func lost(_ error: TransportError) {
        disconnect()
        retry(after: .milliseconds(100))
        client?.transportClosed(error)
    }

    private func failed(_ error: TransportError) {
        let step = backoff.failed()
        retry(after: step.delay)
        if step.isAbsent { client?.transportAbsent(error) }
    }

    private func retry(after delay: Duration) {
        guard let queue else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.retry() }
        timer.schedule(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1))))
        state = .waiting(timer)
        timer.activate()
    }

    private func retry() {
        guard case .waiting(let timer) = state, let queue else { return }
        timer.cancel()
        connect(on: queue)
    }

    private func disconnect() {
        switch state {
        case .connecting(_, let source): source.cancel()
        case .open(let stream): stream.close()
        case .waiting(let timer): timer.cancel()
        case .idle, .stopped: break
        }
        state = .idle
    }
}
