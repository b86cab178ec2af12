package import BLEWire

/// The server's side of one ATT bearer, which answers one request before it looks at the next.
///
///                 receive                    answered, queue empty
///        ┌──────┐ ──────▶ ┌────────────────┐ ──────────────────────▶ idle
///        │ idle │         │ answering, and │ ── answered, waiting ─▶ answering
///        └──────┘         │ others waiting │
///                         └────────────────┘
///
/// A correct client has only one request in flight, but a transaction may wait for an app, and whatever a client sends
/// meanwhile must neither be lost nor block the bearer. There is no deadline: if the app never responds, the client
/// gives up the link.
///
/// Core 6.0, Vol 3, Part F, 3.3.2.
package struct ATTServerBearer<Pending: Sendable>: Sendable {
    /// A packet from a client.
    package enum Incoming: Equatable, Sendable {
        case request(ATTPacket)
        /// A packet with this opcode that can only be rejected.
        case unacceptable(ATT.Opcode, ATT.ErrorCode)
    }

    private enum State: Sendable {
        case idle
        /// A request is being answered; no app has been asked yet.
        case answering
        /// An app has been asked.
        case suspended(Pending)
    }

    private let limit: Int
    private var state = State.idle
    private var waiting: [Incoming] = []

    /// Creates a bearer with at most `limit` queued requests.
    package init(limit: Int) { self.limit = limit }

    /// The app's response that the current request waits for.
    package var pending: Pending? {
        if case .suspended(let pending) = state { pending } else { nil }
    }

    /// True if no request is being answered.
    ///
    /// `mutating`, like ``isLast``, to avoid a copy.
    var isIdle: Bool {
        mutating get {
            if case .idle = state { true } else { false }
        }
    }

    /// True if no other request is queued.
    var isLast: Bool { mutating get { waiting.isEmpty } }

    /// Returns the result of `body` for what the response waits for, if it waits.
    @inline(__always)
    mutating func withPending<Result>(_ body: (Pending) -> Result?) -> Result? {
        if case .suspended(let pending) = state { body(pending) } else { nil }
    }

    /// Starts a request whose response waits for `pending`.
    ///
    /// The bearer must be idle.
    mutating func begin(_ pending: Pending) {
        precondition(isIdle, "only one request may be processed at a time")
        state = .suspended(pending)
    }

    /// Records that the current request was answered; none must be queued.
    mutating func finishLast() {
        precondition(isLast, "the waiting request must be answered first")
        state = .idle
    }

    package enum OnReceive: Equatable {
        /// Answer it now.
        case answer
        case wait
        /// Too many are queued.
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

    /// Records what the response to the current request waits for.
    package mutating func suspend(_ pending: Pending) {
        if case .idle = state { preconditionFailure("no request is being processed") }
        state = .suspended(pending)
    }

    /// Records that the current request was answered, and returns the next one.
    package mutating func finish() -> Incoming? {
        guard !waiting.isEmpty else {
            state = .idle
            return nil
        }
        state = .answering
        return waiting.removeFirst()
    }
}
