package import BLEWire

/// The client's side of one ATT bearer, with one request in flight at a time and a timeout of 30 s.
///
///                 begin                 answer
///        ┌──────┐ ─────▶ ┌──────────┐ ─────────────────▶ idle
///        │ idle │        │ awaiting │
///        └──────┘        └──────────┘ ── 30 s without ─▶ dead
///
/// Commands and confirmations bypass this type, because they need no response. ``RequestQueue`` decides the order.
///
/// Core 6.0, Vol 3, Part F, 3.3.2 (sequential protocol) and 3.3.3 (transaction).
package struct ATTClientBearer: Sendable {
    private enum State: Sendable {
        /// No request is in flight.
        case idle
        /// A request is in flight.
        case awaiting(ATT.Opcode, since: Instant)
        /// A request timed out. No further request may be sent on this bearer.
        case dead
    }

    private var state = State.idle

    package init() {}

    /// True if a request can be sent now.
    package var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// True after a request timed out.
    ///
    /// The bearer will not answer any more.
    package var isDead: Bool {
        if case .dead = state { true } else { false }
    }

    /// The time at which to call ``expire(at:)`` unless something happens first.
    package var deadline: Instant? {
        if case .awaiting(_, let start) = state { start + ATT.transactionTimeout } else { nil }
    }

    /// Records that `request` is sent now.
    ///
    /// The bearer must be idle.
    package mutating func begin(_ request: ATT.Opcode, at now: Instant) {
        precondition(isIdle, "only one request may be in flight")
        precondition(request.response != nil, "only requests start transactions")
        state = .awaiting(request, since: now)
    }

    /// Records that a read or write is sent now.
    ///
    /// The bearer must be idle.
    @inline(__always)
    mutating func beginFast(_ request: ATT.Opcode, at now: Instant) {
        precondition(isIdle, "only one request may be in flight")
        state = .awaiting(request, since: now)
    }

    package enum OnReceive: Equatable {
        /// The response to the request in flight.
        case answered(ATTAnswer)
        /// Not a response to the request in flight: dropped, as late responses must be.
        case ignored
    }

    /// Processes a response or error response.
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

    /// Records that the request in flight is complete.
    mutating func end() {
        guard case .awaiting = state else { preconditionFailure("a response needs a request in flight") }
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
        /// The response is overdue: the bearer must be closed.
        case abandon
    }

    /// Marks the bearer as dead if the response is overdue.
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
