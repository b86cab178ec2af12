package import BLEWire

/// The client's side of one ATT bearer: one request in flight at a time, answered within 30 s.
///
///                 begin                 answer
///        ┌──────┐ ─────▶ ┌──────────┐ ─────────────────▶ idle
///        │ idle │        │ awaiting │
///        └──────┘        └──────────┘ ── 30 s without ─▶ dead
///
/// Commands and confirmations do not pass here: they need no turn. Whose turn it is decides ``RequestQueue``.
///
/// Core 6.0, Vol 3, Part F, 3.3.2 (sequential protocol) and 3.3.3 (transaction).
package struct ATTClientBearer: Sendable {
    private enum State: Sendable {
        /// Nothing is in flight.
        case idle
        /// A request is in flight.
        case awaiting(ATT.Opcode, since: Instant)
        /// A transaction timed out, after which nothing more may be asked on this bearer.
        case dead
    }

    private var state = State.idle

    package init() {}

    /// Whether a request may be sent now.
    package var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether a transaction timed out, so that no request will ever be answered here again.
    package var isDead: Bool {
        if case .dead = state { true } else { false }
    }

    /// When to call ``expire(at:)``, if nothing happens before.
    package var deadline: Instant? {
        if case .awaiting(_, let start) = state { start + ATT.transactionTimeout } else { nil }
    }

    /// Notes that `request` goes out now; the bearer must be idle.
    package mutating func begin(_ request: ATT.Opcode, at now: Instant) {
        precondition(isIdle, "one request is in flight at a time")
        precondition(request.response != nil, "only requests begin transactions")
        state = .awaiting(request, since: now)
    }

    /// Notes that a read or a write goes out now; the bearer must be idle.
    @inline(__always)
    mutating func beginAtOnce(_ request: ATT.Opcode, at now: Instant) {
        precondition(isIdle, "one request is in flight at a time")
        state = .awaiting(request, since: now)
    }

    package enum OnReceive: Equatable {
        /// The request in flight is answered.
        case answered(ATTAnswer)
        /// Nothing in flight is answered by this: dropped, as a late answer must be.
        case ignored
    }

    /// Takes a response or an error response.
    package mutating func receive(_ packet: ATTPacket) -> OnReceive {
        guard case .awaiting(let request, _) = state else { return .ignored }
        if case .errorResponse(let error) = packet {
            guard error.request == request else { return .ignored }
            state = .idle
            return .answered(.failure(.att(error.reason)))
        }
        guard packet.opcode == request.response else { return .ignored }
        state = .idle
        return .answered(.success(packet))
    }

    /// Notes that the request in flight is answered.
    mutating func end() {
        guard case .awaiting = state else { preconditionFailure("what is answered is in flight") }
        state = .idle
    }

    /// Takes a packet that cannot be decoded.
    ///
    /// It ends the transaction if it is a response to the request in flight, or an Error Response that does not name
    /// another request.
    package mutating func receiveMalformed(_ pdu: Span<UInt8>) -> OnReceive {
        guard case .awaiting(let request, _) = state, !pdu.isEmpty else { return .ignored }
        let opcode = ATT.Opcode(wire: pdu[0])
        let isRefusal = opcode == .errorResponse && (pdu.count < 2 || ATT.Opcode(wire: pdu[1]) == request)
        guard opcode == request.response || isRefusal else { return .ignored }
        state = .idle
        return .answered(.failure(.invalidResponse))
    }

    package enum OnExpire: Equatable {
        case nothing
        /// The answer is overdue: the bearer is of no more use.
        case abandon
    }

    /// Gives the bearer up if the answer is overdue.
    package mutating func expire(at now: Instant) -> OnExpire {
        guard let deadline, deadline <= now else { return .nothing }
        state = .dead
        return .abandon
    }
}

extension ATT.ErrorResponse {
    /// The error code.
    ///
    /// Code 0, which is reserved, tells no reason, but the request was refused all the same.
    fileprivate var reason: ATT.ErrorCode { code.wire == 0 ? .unlikelyError : code }
}
