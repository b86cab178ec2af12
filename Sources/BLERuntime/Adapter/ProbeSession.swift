import BLEWire

/// A transport client that reads the properties of a controller and then stops the transport.
///
/// Sendable because everything except ``facts(through:within:)`` runs on the loop's thread.
package final class ProbeSession: TransportClient, Sendable {
    /// The time limit for all responses together; it is long, because a controller may still be starting.
    package static let timeout = Duration.seconds(15)

    private struct State {
        var probe = ControllerProbe()
        var framer = H4Framer(from: .controller)
        var timer: LoopAlarm?
        var answer: CheckedContinuation<Result<ControllerFacts, TransportError>, Never>?
    }

    private let transport: any Transport
    private let loop = EventLoop("bluetooth-probe")
    private let state = Locked(State())

    private init(_ transport: any Transport) { self.transport = transport }

    /// Starts `transport`, reads the properties of its controller, and stops the transport again.
    ///
    /// - Throws: The reason why there is no controller, or a timeout after `timeout`.
    package static func facts(
        through transport: any Transport,
        within timeout: Duration = timeout
    ) async throws(TransportError) -> ControllerFacts {
        let session = ProbeSession(transport)
        session.loop.start()
        let result = await withCheckedContinuation { answer in
            session.loop.post {
                session.state.withLock { state in
                    state.answer = answer
                    state.timer = session.loop.alarm(at: session.loop.clock.now + timeout) {
                        session.finish(.failure(.unanswered))
                    }
                }
                transport.start(for: session, on: session.loop)
            }
        }
        return try result.get()
    }

    private func finish(_ result: Result<ControllerFacts, TransportError>) {
        let answer = state.withLock { state in
            state.timer?.cancel()
            defer { (state.answer, state.timer) = (nil, nil) }
            return state.answer
        }
        guard let answer else { return }
        transport.stop()
        answer.resume(returning: result)
    }

    package func transportOpened() {
        let first = state.withLock { state in
            (state.probe, state.framer) = (ControllerProbe(), H4Framer(from: .controller))
            return state.probe.first
        }
        transport.send(first.encoded.span)
    }

    package func transportClosed(_ error: TransportError) { finish(.failure(error)) }
    package func transportAbsent(_ error: TransportError) { finish(.failure(error)) }

    package func transportReceived(_ chunk: Span<UInt8>) throws(TransportError) {
        var (framer, probe) = state.withLock { ($0.framer, $0.probe) }
        var outcome = ControllerProbe.OnReceive.ignore
        try framer.receive(chunk) { packet in
            let next = probe.receive(packet)
            if next != .ignore { outcome = next }
        }
        state.withLock { state in (state.framer, state.probe) = (framer, probe) }
        switch outcome {
        case .ignore: break
        case .ask(let command): transport.send(command.encoded.span)
        case .done(let facts): finish(.success(facts))
        case .broken: finish(.failure(.unresettable))
        }
    }
}
