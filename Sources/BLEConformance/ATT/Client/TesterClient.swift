import BLEHost
import BLEWire

/// A GATT client for procedures that no app can request.
///
/// It runs one procedure at a time, and only while ``AppClient`` has no request in progress.
struct TesterClient {
    private enum State {
        case idle
        /// The request waits for its response. If `retries` is true, the request may be repeated once on a more secure
        /// link.
        case asking(AttributeProcedure, ATTPacket, retries: Bool)
    }

    enum OnEvent {
        case nothing
        case send([UInt8])
        case answered(AttributeOperation.Answer)
    }

    private var bearer = ATTClientBearer()
    private var state = State.idle

    /// True if a request waits for its response.
    var isAsking: Bool {
        switch state {
        case .asking: true
        case .idle: false
        }
    }

    /// The time at which to call ``wake(at:)`` unless something else happens first; `nil` if nothing is due.
    var deadline: Instant? { bearer.deadline }

    /// Starts a procedure on a bearer whose packets have at most `mtu` octets.
    ///
    /// If `retries` is true, a refused request may be repeated once on a more secure link.
    mutating func ask(_ procedure: AttributeProcedure, retries: Bool, mtu: Int, at now: Instant) -> OnEvent {
        guard case .idle = state else { preconditionFailure("only one procedure may run at a time") }
        guard !bearer.hasTimedOut else { return .answered(.failure(.timedOut)) }
        var procedure = procedure
        let step = procedure.begin(mtu: mtu)
        return follow(step, of: procedure, retries: retries, at: now)
    }

    /// Processes a response from the server.
    mutating func receive(_ octets: [UInt8], mtu: Int, at now: Instant) -> OnEvent {
        guard case .asking(var procedure, let request, let retries) = state else { return .nothing }
        let packet = try? ATTPacket(decoding: octets)
        let event = packet.map { bearer.receive($0) } ?? bearer.receiveMalformed(octets.span)
        guard case .answered(let answer) = event else { return .nothing }
        guard !retries || !answer.needsSecurity else {
            return follow(.request(request), of: procedure, retries: false, at: now)
        }
        let step = procedure.receive(answer, mtu: mtu)
        return follow(step, of: procedure, retries: retries, at: now)
    }

    /// Ends the procedure if its response has not arrived in time.
    mutating func wake(at now: Instant) -> OnEvent {
        guard bearer.expire(at: now) == .abandon else { return .nothing }
        state = .idle
        return .answered(.failure(.timedOut))
    }

    private mutating func follow(
        _ step: ProcedureStep<AttributeOperation.Answer>,
        of procedure: AttributeProcedure,
        retries: Bool,
        at now: Instant
    ) -> OnEvent {
        switch step {
        case .request(let request):
            state = .asking(procedure, request, retries: retries)
            bearer.begin(request.opcode, at: now)
            return .send(request.encoded)
        case .finished(let answer):
            state = .idle
            return .answered(answer)
        }
    }
}

extension ATTAnswer {
    /// True if the request was refused for lack of security; a more secure link could help.
    fileprivate var needsSecurity: Bool {
        switch self {
        case .failure(.att(let code)): code == .insufficientAuthentication || code == .insufficientEncryption
        case .success, .failure: false
        }
    }
}
