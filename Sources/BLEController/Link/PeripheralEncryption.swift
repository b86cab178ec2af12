import BLEWire

/// Encrypts a link at the wish of its central, with the key that the peripheral's host has.
///
///                  LL_ENC_REQ ┌───────────┐ drawn ┌────────┐ key ┌──────────┐ LL_START_ENC_RSP
///     idle ──────────────────▶│ requested │ ────▶ │ asking │ ──▶ │ starting │ ────────────────▶ idle
///       │                     └───────────┘       └────────┘     └──────────┘
///       │ LL_PAUSE_ENC_REQ          ▲ LL_ENC_REQ
///       │  ┌─────────┐  PAUSE_RSP ┌─┴──────┐
///       └─▶│ pausing │ ─────────▶ │ paused │
///          └─────────┘            └────────┘
///
/// Core 6.0, Vol 6, Part B, 5.1.3.
struct PeripheralEncryption: Sendable {
    private enum State: Sendable {
        case idle
        /// LL_PAUSE_ENC_RSP is out, and the central's is due.
        case pausing(until: Instant)
        /// Neither end encrypts; LL_ENC_REQ is due.
        case paused(until: Instant)
        /// LL_ENC_REQ came, and this end has to draw its half of the session.
        case requested(LL.EncryptionRequest, EncryptionPurpose)
        /// LL_ENC_RSP is out, and the host was asked for the key.
        case asking(LL.EncryptionRequest, LL.EncryptionResponse, EncryptionPurpose)
        /// LL_START_ENC_REQ is out; what comes next is encrypted.
        case starting(EncryptionSession, EncryptionPurpose, until: Instant)
    }

    private var state = State.idle

    /// Whether the procedure has begun and not come to its end.
    var isUnderWay: Bool {
        if case .idle = state { false } else { true }
    }

    /// When the connection ends because the central did not go on.
    var deadline: Instant? {
        switch state {
        case .idle, .requested, .asking: nil
        case .pausing(let deadline), .paused(let deadline), .starting(_, _, let deadline): deadline
        }
    }

    enum OnPauseRequest {
        /// What comes next is not encrypted.
        case pause
        case ignore
    }

    mutating func receivePauseRequest(isEncrypted: Bool, at now: Instant) -> OnPauseRequest {
        guard case .idle = state, isEncrypted else { return .ignore }
        state = .pausing(until: now + LinkControl.responseTimeout)
        return .pause
    }

    enum OnPauseResponse {
        /// What this end sends is not encrypted either.
        case paused
        case ignore
    }

    mutating func receivePauseResponse(at now: Instant) -> OnPauseResponse {
        guard case .pausing = state else { return .ignore }
        state = .paused(until: now + LinkControl.responseTimeout)
        return .paused
    }

    enum OnRequest {
        /// This end has to draw its half of the session, and to ask its host for the key.
        case draw
        case ignore
    }

    mutating func receive(_ request: LL.EncryptionRequest, isEncrypted: Bool) -> OnRequest {
        let action: OnRequest
        (state, action) =
            switch state {
            case .idle where !isEncrypted: (.requested(request, .start), .draw)
            case .paused: (.requested(request, .refresh), .draw)
            case .idle, .pausing, .requested, .asking, .starting: (state, .ignore)
            }
        return action
    }

    /// Notes what this end drew.
    mutating func draw(_ response: LL.EncryptionResponse) {
        guard case .requested(let request, let purpose) = state else {
            preconditionFailure("an end draws once, when it is asked to")
        }
        state = .asking(request, response, purpose)
    }

    enum OnKey {
        /// What comes next is encrypted.
        case start(EncryptionSession)
        case unasked
    }

    /// The host has the key.
    mutating func receive(_ key: Key128, at now: Instant) -> OnKey {
        guard case .asking(let request, let response, let purpose) = state else { return .unasked }
        let session = EncryptionSession(longTermKey: key, request, response)
        state = .starting(session, purpose, until: now + LinkControl.responseTimeout)
        return .start(session)
    }

    enum OnRefusal {
        /// The link goes on unencrypted, as it was.
        case reject
        /// The link was encrypted, and must not go on otherwise.
        case terminate
        case unasked
    }

    /// The host has no key.
    mutating func receiveRefusal() -> OnRefusal {
        let action: OnRefusal
        (state, action) =
            switch state {
            case .asking(_, _, .start): (.idle, .reject)
            case .asking(_, _, .refresh): (.idle, .terminate)
            case .idle, .pausing, .paused, .requested, .starting: (state, .unasked)
            }
        return action
    }

    enum OnStartResponse {
        /// What this end sends is encrypted, too.
        case encrypted(EncryptionSession, EncryptionPurpose)
        case ignore
    }

    mutating func receiveStartResponse() -> OnStartResponse {
        guard case .starting(let session, let purpose, _) = state else { return .ignore }
        state = .idle
        return .encrypted(session, purpose)
    }
}
