import BLEWire

/// One end of the signalling channel of a link: one request of our own at a time, and answers to the peer's.
///
///                 request                 answer, reject or timeout
///        ┌──────┐ ──────▶ ┌──────────┐ ──────────────────────────▶ idle
///        │ idle │         │ awaiting │
///        └──────┘         └──────────┘ ── request ──▶ awaiting (refused)
///
/// Core 6.0, Vol 3, Part A, 4 and 6.2.1.
struct SignalExchange {
    /// How long the peer may take to answer: the response timeout, which is 1 s to 60 s.
    static let timeout = Duration.seconds(30)

    private enum State {
        case idle
        /// The peer has been asked for other connection parameters.
        case awaiting(SignalIdentifier, due: Instant)
    }

    private var state = State.idle
    private var identifier = SignalIdentifier.first

    /// When to call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? {
        if case .awaiting(_, let due) = state { due } else { nil }
    }

    /// Asks the central for other connection parameters; `nil` if it has been asked and has not answered yet.
    mutating func request(_ parameters: Signal.ConnectionParameterUpdateRequest, at now: Instant) -> SignalPacket? {
        guard case .idle = state else { return nil }
        let packet = SignalPacket(.connectionParameterUpdateRequest(parameters), identifier: identifier)
        state = .awaiting(identifier, due: now + Self.timeout)
        identifier = identifier.next
        return packet
    }

    /// What a packet of the peer calls for.
    enum OnReceive: Equatable {
        case reply(SignalPacket)
        /// The peripheral asks for other parameters: accept them or refuse them, with this identifier.
        case judge(Signal.ConnectionParameterUpdateRequest, SignalIdentifier)
        /// The central has answered what it was asked.
        case finished(isAccepted: Bool)
        case stray
    }

    /// Takes the payload of one packet of the signalling channel.
    ///
    /// - Throws: `PacketError` if it is none and cannot be answered.
    mutating func receive(_ bytes: Span<UInt8>, isCentral: Bool) throws(PacketError) -> OnReceive {
        guard bytes.count <= SignalPacket.minimumMTU else { return try exceeded(bytes) }
        let packet = try SignalPacket(decoding: bytes), identifier = packet.identifier
        func reply(_ signal: Signal) -> OnReceive { .reply(SignalPacket(signal, identifier: identifier)) }
        switch packet.signal {
        case .connectionParameterUpdateRequest(let request):
            return isCentral ? .judge(request, identifier) : reply(.commandReject(.notUnderstood))
        case .connectionParameterUpdateResponse(let response):
            return finish(identifier, isAccepted: response.result == .accepted)
        case .commandReject: return finish(identifier, isAccepted: false)
        case .leCreditBasedConnectionRequest:
            return reply(.leCreditBasedConnectionResponse(.init(refusing: .spsmNotSupported)))
        case .creditBasedConnectionRequest:
            return reply(
                .creditBasedConnectionResponse(
                    .init(mtu: 0, mps: 0, credits: 0, result: .spsmNotSupported, destinations: [])
                )
            )
        case .disconnectionRequest(let request):
            return reply(.commandReject(.invalidChannel(local: request.destination, remote: request.source)))
        case .creditBasedReconfigureRequest, .unknown: return reply(.commandReject(.notUnderstood))
        case .disconnectionResponse, .leCreditBasedConnectionResponse, .creditBasedConnectionResponse,
            .creditBasedReconfigureResponse, .flowControlCredit:
            return .stray
        }
    }

    /// Gives up waiting if the answer is overdue; `true` if it was.
    mutating func expire(at now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        state = .idle
        return true
    }

    private mutating func finish(_ answered: SignalIdentifier, isAccepted: Bool) -> OnReceive {
        guard case .awaiting(answered, _) = state else { return .stray }
        state = .idle
        return .finished(isAccepted: isAccepted)
    }

    /// Answers a packet that is longer than this end takes, unless it is an answer itself.
    private func exceeded(_ bytes: Span<UInt8>) throws(PacketError) -> OnReceive {
        guard let identifier = SignalIdentifier(wire: bytes[1]) else { throw .reserved(field: "Identifier") }
        let code = Signal.Code(wire: bytes[0])
        guard !Self.answers.contains(code) else { return .stray }
        let limit = UInt16(SignalPacket.minimumMTU)
        return .reply(SignalPacket(.commandReject(.mtuExceeded(mtu: limit)), identifier: identifier))
    }

    private static let answers: [Signal.Code] = [
        .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse, .leCreditBasedConnectionResponse,
        .flowControlCredit, .creditBasedConnectionResponse, .creditBasedReconfigureResponse,
    ]
}
