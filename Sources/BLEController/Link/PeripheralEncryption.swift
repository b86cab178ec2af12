import BLEWire

/// The peripheral's side of starting encryption or refreshing the key.
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
        /// LL_PAUSE_ENC_RSP has been sent, and the central's LL_PAUSE_ENC_RSP has not arrived yet.
        case pausing(until: Instant)
        /// Both ends have stopped encrypting, and LL_ENC_REQ has not arrived yet.
        case paused(until: Instant)
        /// LL_ENC_REQ has arrived, and this end must generate its random values for the session.
        case requested(LL.EncryptionRequest, EncryptionPurpose)
        /// LL_ENC_RSP has been sent, and the host has been asked for the key.
        case asking(LL.EncryptionRequest, LL.EncryptionResponse, EncryptionPurpose)
        /// LL_START_ENC_REQ has been sent, and the next packet from the central is expected to be encrypted.
        case starting(EncryptionSession, EncryptionPurpose, until: Instant)
    }

    private var state = State.idle

    /// True while the procedure is running.
    var isUnderWay: Bool {
        if case .idle = state { false } else { true }
    }

    /// The time at which the connection ends unless the central continues the procedure first.
    ///
    /// The value is `nil` unless the procedure waits for a packet from the central.
    var deadline: Instant? {
        switch state {
        case .idle, .requested, .asking: nil
        case .pausing(let deadline), .paused(let deadline), .starting(_, _, let deadline): deadline
        }
    }

    enum OnPauseRequest {
        /// Stop decrypting: the next packet from the central is not encrypted.
        case pause
        case ignore
    }

    mutating func receivePauseRequest(isEncrypted: Bool, at now: Instant) -> OnPauseRequest {
        guard case .idle = state, isEncrypted else { return .ignore }
        state = .pausing(until: now + LinkControl.responseTimeout)
        return .pause
    }

    enum OnPauseResponse {
        /// Stop encrypting: both directions are now unencrypted.
        case paused
        case ignore
    }

    mutating func receivePauseResponse(at now: Instant) -> OnPauseResponse {
        guard case .pausing = state else { return .ignore }
        state = .paused(until: now + LinkControl.responseTimeout)
        return .paused
    }

    enum OnRequest {
        /// Generate this end's random values for the session, and request the key from the host.
        case generateValues
        case ignore
    }

    mutating func receive(_ request: LL.EncryptionRequest, isEncrypted: Bool) -> OnRequest {
        let action: OnRequest
        (state, action) =
            switch state {
            case .idle where !isEncrypted: (.requested(request, .start), .generateValues)
            case .paused: (.requested(request, .refresh), .generateValues)
            case .idle, .pausing, .requested, .asking, .starting: (state, .ignore)
            }
        return action
    }

    /// Records the random values that this end has generated for the session.
    mutating func generateValues(_ response: LL.EncryptionResponse) {
        guard case .requested(let request, let purpose) = state else {
            preconditionFailure("random values are drawn once for each request")
        }
        state = .asking(request, response, purpose)
    }

    enum OnKey {
        /// Start decrypting with this session: the next packet from the central is encrypted.
        case start(EncryptionSession)
        case unasked
    }

    /// Processes the key from the host.
    mutating func receive(_ key: Key128, at now: Instant) -> OnKey {
        guard case .asking(let request, let response, let purpose) = state else { return .unasked }
        let session = EncryptionSession(longTermKey: key, request, response)
        state = .starting(session, purpose, until: now + LinkControl.responseTimeout)
        return .start(session)
    }

    enum OnRefusal {
        /// Reject the central's request. The link stays unencrypted.
        case reject
        /// End the link, because it was encrypted before and must not continue without encryption.
        case terminate
        case unasked
    }

    /// Processes the host's answer that it has no key.
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
        /// Start encrypting with this session: both directions are now encrypted.
        case encrypted(EncryptionSession, EncryptionPurpose)
        case ignore
    }

    mutating func receiveStartResponse() -> OnStartResponse {
        guard case .starting(let session, let purpose, _) = state else { return .ignore }
        state = .idle
        return .encrypted(session, purpose)
    }
}
