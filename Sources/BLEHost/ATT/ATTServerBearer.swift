package import BLEWire

/// The server's part of one ATT bearer, which processes one request at a time.
///
///                 receive                    answered, queue empty
///        ┌──────┐ ──────▶ ┌────────────────┐ ──────────────────────▶ idle
///        │ idle │         │ answering, and │ ── answered, waiting ─▶ answering
///        └──────┘         │ others waiting │
///                         └────────────────┘
///
/// A correct client has only one request in flight. However, a response may wait for an app, and requests that arrive
/// before the response is sent must neither be lost nor block the bearer. There is no timeout, because the client
/// closes the link if the app never responds.
///
/// Core 6.0, Vol 3, Part F, 3.3.2.
package struct ATTServerBearer<Pending: Sendable>: Sendable {
    /// A packet from a client.
    package enum Incoming: Equatable, Sendable {
        case request(ATTPacket)
        /// A packet that the host rejects without asking an app: the opcode of the packet, and the error to send.
        case unacceptable(ATT.Opcode, ATT.ErrorCode)
    }

    private enum State: Sendable {
        case idle
        /// A request is being processed, and no app has been asked yet.
        case answering
        /// An app has been asked for the response.
        case suspended(Pending)
    }

    private let limit: Int
    private var state = State.idle
    private var waiting: [Incoming] = []

    /// Creates a bearer with at most `limit` queued requests.
    package init(limit: Int) { self.limit = limit }

    /// The description of the request that waits for an app; `nil` if no request does.
    package var pending: Pending? {
        if case .suspended(let pending) = state { pending } else { nil }
    }

    /// True if no request is being answered.
    ///
    /// The getter is `mutating`, like that of ``hasNoQueuedRequest``, to avoid a copy.
    var isIdle: Bool {
        mutating get {
            if case .idle = state { true } else { false }
        }
    }

    /// True if no request is queued behind the current one.
    var hasNoQueuedRequest: Bool { mutating get { waiting.isEmpty } }

    /// Returns the result of `body` for ``pending``; `nil` if no request waits for an app.
    @inline(__always)
    mutating func withPending<Result>(_ body: (Pending) -> Result?) -> Result? {
        if case .suspended(let pending) = state { body(pending) } else { nil }
    }

    /// Starts to process a request to which an app must respond; `pending` describes the request.
    ///
    /// The bearer must be idle.
    mutating func begin(_ pending: Pending) {
        precondition(isIdle, "only one request may be processed at a time")
        state = .suspended(pending)
    }

    /// Records that the current request was answered, and makes the bearer idle.
    ///
    /// No other request may be queued.
    mutating func finishLast() {
        precondition(hasNoQueuedRequest, "the waiting request must be answered first")
        state = .idle
    }

    package enum OnReceive: Equatable {
        /// Answer the request now.
        case answer
        case wait
        /// Drop the request, because too many are queued.
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

    /// Records that the current request waits for an app; `pending` describes the request.
    package mutating func suspend(_ pending: Pending) {
        if case .idle = state { preconditionFailure("a response needs a request that is being processed") }
        state = .suspended(pending)
    }

    /// Records that the current request was answered, and returns the next one; `nil` if none is queued.
    package mutating func finish() -> Incoming? {
        guard !waiting.isEmpty else {
            state = .idle
            return nil
        }
        state = .answering
        return waiting.removeFirst()
    }
}
