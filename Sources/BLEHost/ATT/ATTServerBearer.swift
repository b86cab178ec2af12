package import BLEWire

/// The server's side of one ATT bearer: one request is answered before the next is looked at.
///
///                 receive                    answered, queue empty
///        ┌──────┐ ──────▶ ┌────────────────┐ ──────────────────────▶ idle
///        │ idle │         │ answering, and │ ── answered, waiting ─▶ answering
///        └──────┘         │ others waiting │
///                         └────────────────┘
///
/// A well-behaved client has one request in flight, but a transaction may wait for an app, and nothing that a client
/// sends meanwhile may be lost or wedge the bearer. There is no deadline: if the app never answers, the client gives
/// the link up.
///
/// Core 6.0, Vol 3, Part F, 3.3.2.
package struct ATTServerBearer<Pending: Sendable>: Sendable {
    /// What a client sent.
    package enum Incoming: Equatable, Sendable {
        case request(ATTPacket)
        /// Something with this opcode that can only be refused.
        case unacceptable(ATT.Opcode, ATT.ErrorCode)
    }

    private enum State: Sendable {
        case idle
        /// A request is being answered, and whoever answers it has not been asked yet.
        case answering
        /// Someone else has been asked.
        case suspended(Pending)
    }

    private let limit: Int
    private var state = State.idle
    private var waiting: [Incoming] = []

    /// Creates a bearer on which at most `limit` requests wait.
    package init(limit: Int) { self.limit = limit }

    /// What the answer waits for.
    package var pending: Pending? {
        if case .suspended(let pending) = state { pending } else { nil }
    }

    /// Whether no request is being answered; mutating, as is ``isLast``, so that it is looked at where it lies.
    var isIdle: Bool {
        mutating get {
            if case .idle = state { true } else { false }
        }
    }

    /// Whether no other request waits.
    var isLast: Bool { mutating get { waiting.isEmpty } }

    /// What `body` makes of what the answer waits for, if it waits for anything.
    @inline(__always)
    mutating func withPending<Result>(_ body: (Pending) -> Result?) -> Result? {
        if case .suspended(let pending) = state { body(pending) } else { nil }
    }

    /// Takes a request, and notes whom its answer waits for; the bearer must be idle.
    mutating func begin(_ pending: Pending) {
        precondition(isIdle, "one request is answered at a time")
        state = .suspended(pending)
    }

    /// Notes that the request at hand is answered, behind which none waits.
    mutating func finishLast() {
        precondition(isLast, "what waits is answered next")
        state = .idle
    }

    package enum OnReceive: Equatable {
        /// Answer it now.
        case answer
        case wait
        /// Too many wait.
        case drop
    }

    package mutating func receive(_ incoming: Incoming) -> OnReceive {
        switch state {
        case .idle:
            state = .answering
            return .answer
        case .answering, .suspended:
            guard waiting.count < limit else { return .drop }
            waiting.append(incoming)
            return .wait
        }
    }

    /// Notes whom the answer to the request at hand waits for.
    package mutating func suspend(_ pending: Pending) {
        if case .idle = state { preconditionFailure("only a request at hand can wait for an answer") }
        state = .suspended(pending)
    }

    /// Notes that the request at hand is answered, and hands out the next.
    package mutating func finish() -> Incoming? {
        guard !waiting.isEmpty else {
            state = .idle
            return nil
        }
        state = .answering
        return waiting.removeFirst()
    }
}
