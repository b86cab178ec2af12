package import BLEWire

/// The client's part of one ATT bearer: at most one request is in flight, and its response must arrive within 30 s.
///
///                 begin                response
///        ┌──────┐ ─────▶ ┌──────────┐ ─────────────────▶ idle
///        │ idle │        │ awaiting │
///        └──────┘        └──────────┘ ── timed out ────▶ dead
///
/// Commands and confirmations bypass this type, because they need no response. ``RequestQueue`` decides the order of
/// requests.
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

    /// True after a request has timed out.
    ///
    /// No further request may be sent on the bearer.
    package var hasTimedOut: Bool {
        if case .dead = state { true } else { false }
    }

    /// The time at which to call ``expire(at:)``; `nil` if nothing is due.
    package var deadline: Instant? {
        if case .awaiting(_, let start) = state { start + ATT.transactionTimeout } else { nil }
    }

    /// Records that `request` is being sent now.
    ///
    /// The bearer must be idle.
    package mutating func begin(_ request: ATT.Opcode, at now: Instant) {
        precondition(isIdle, "only one request may be in flight")
        precondition(request.response != nil, "only requests start transactions")
        state = .awaiting(request, since: now)
    }

    /// Records that a read or write request is being sent now.
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
        /// The packet is not a response to the request in flight. It must be dropped, like a late response.
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

    /// Records that the response to the request in flight has arrived.
    mutating func end() {
        guard case .awaiting = state else { preconditionFailure("a response needs a request in flight") }
        state = .idle
    }

    /// Processes a malformed packet.
    ///
    /// The packet ends the transaction if it is a response to the request in flight, or an Error Response that names
    /// that request or is too short to name one.
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
        /// The response did not arrive in time, so the bearer must be closed.
        case abandon
    }

    /// Marks the bearer as dead if the response has not arrived in time.
    package mutating func expire(at now: Instant) -> OnExpire {
        guard let deadline, deadline <= now else { return .nothing }
        state = .dead
        return .abandon
    }
}

extension ATT.ErrorResponse {
    /// The error code to report.
    ///
    /// Code 0 is reserved and gives no reason, but it still means that the request was rejected.
    fileprivate var reason: ATT.ErrorCode { code.wire == 0 ? .unlikelyError : code }
}
