import BLEWire

/// A transport to a controller on a port of this machine.
///
/// It opens the port, and opens it again 100 ms after it has lost a controller. If there is no controller, the delays
/// between attempts grow to 5 s, and the port can end a delay early by reporting that a controller may have appeared.
/// Sendable because everything happens on the thread of the loop on which it was started.
package final class PortTransport: Transport, @unchecked Sendable {
    private enum State {
        case idle
        /// The port is open, but its framing is not ready.
        case opening(PortStream)
        /// The framing is ready. `hasReceived` is true if valid packets have been received.
        case open(PortStream, hasReceived: Bool)
        /// Waiting for the next attempt to open the port, which was closed at `since`. `watch` can end the wait early.
        case waiting(LoopAlarm, since: Instant, watch: (any Sendable)?)
    }

    /// The time after closing the port during which its reports are ignored, because closing may have caused them.
    private static let reportIgnoringTime = Duration.milliseconds(500)

    private let port: any ControllerPort
    private var state = State.idle
    /// The time at which the framing became ready.
    private var opened: Instant?
    private var backoff: Backoff
    private var loop: EventLoop?
    private weak var client: (any TransportClient)?

    /// Creates a transport.
    ///
    /// `pauses` are the first and the longest delay between two attempts.
    package init(_ port: any ControllerPort, pauses: ClosedRange<Duration> = Backoff.pauses) {
        self.port = port
        backoff = Backoff(pauses)
    }

    deinit { disconnect() }

    package var name: String { port.name }

    package func start(for client: any TransportClient, on loop: EventLoop) {
        guard case .idle = state else { return }
        self.client = client
        self.loop = loop
        open(on: loop)
    }

    package func send(_ packets: Span<UInt8>) {
        if case .open(let stream, _) = state { stream.send(packets) }
    }

    package func pause() {
        if case .open(let stream, _) = state { stream.pauses = true }
    }

    package func resume() {
        if case .open(let stream, _) = state { stream.pauses = false }
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

    private func open(on loop: EventLoop) {
        do throws(TransportError) {
            let stream = PortStream(try port.open(), on: loop, owner: self)
            state = .opening(stream)
            stream.start()
        } catch {
            failed(error)
        }
    }

    /// Processes the loss of an open port.
    ///
    /// If packets have been received, a controller is lost, and the port is opened again soon. Otherwise the connected
    /// device was not a working controller, and the delays between attempts grow.
    private func lost(_ error: TransportError) {
        guard case .open(_, hasReceived: true) = state else { return gaveUp(error) }
        disconnect()
        backoff.succeeded()
        retry(after: Backoff.shortest)
        client?.transportClosed(error)
    }

    /// Closes the port, because the connected device is not a working controller at the moment.
    ///
    /// The port is opened again after a delay, and the client is notified.
    private func gaveUp(_ error: TransportError) {
        disconnect()
        retry(after: backoff.failed().delay)
        if backoff.isAbsent { client?.transportAbsent(error) } else { client?.transportClosed(error) }
    }

    private func failed(_ error: TransportError) {
        disconnect()
        let step = backoff.failed()
        retry(after: step.delay)
        if backoff.isAbsent { client?.transportAbsent(error) }
    }

    private func retry(after delay: Duration) {
        guard let loop else { return }
        let now = loop.clock.now
        state = .waiting(
            loop.alarm(at: now + delay) { [weak self] in self?.retry() },
            since: now,
            watch: port.watch(on: loop) { [weak self] in self?.portChanged() }
        )
    }

    private func portChanged() {
        guard case .waiting(let alarm, let start, _) = state, let loop,
            start + Self.reportIgnoringTime <= loop.clock.now
        else {
            return
        }
        alarm.cancel()
        open(on: loop)
    }

    private func retry() {
        guard case .waiting = state, let loop else { return }
        open(on: loop)
    }

    private func disconnect() {
        switch state {
        case .opening(let stream), .open(let stream, _): stream.close()
        case .waiting(let alarm, _, _): alarm.cancel()
        case .idle: break
        }
        state = .idle
    }
}

extension PortTransport: PortStream.Owner {
    func portReady() {
        guard case .opening(let stream) = state else { return }
        state = .open(stream, hasReceived: false)
        backoff.connected()
        opened = loop?.clock.now
        client?.transportOpened()
    }

    func portReceived(_ packets: Span<UInt8>) throws(TransportError) {
        try client?.transportReceived(packets)
        if case .open(let stream, hasReceived: false) = state { state = .open(stream, hasReceived: true) }
    }

    func portClosed(_ error: TransportError) {
        if case .open = state { lost(error) } else { failed(error) }
    }
}
