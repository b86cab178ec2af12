import BLEWire

/// The key that a central's host has supplied to encrypt a link, and the random values that the central has generated
/// for the session.
struct EncryptionTerms: Equatable, Sendable {
    let longTermKey: Key128
    let request: LL.EncryptionRequest
}

/// The purpose of an encryption procedure, which decides the event that the hosts receive when the procedure ends.
enum EncryptionPurpose: Sendable {
    /// The procedure encrypts a link that was not encrypted.
    case start
    /// The procedure gives an encrypted link a new key.
    case refresh
}

/// The central's side of starting encryption or refreshing the key.
///
///                  ┌────────────┐ LL_ENC_RSP ┌────────┐ LL_START_ENC_REQ ┌──────────┐ LL_START_ENC_RSP
///     begin ──────▶│ requesting │ ─────────▶ │ agreed │ ───────────────▶ │ starting │ ────────────────▶ idle
///       │          └────────────┘            └────────┘                  └──────────┘
///       │ encrypted      ▲ LL_PAUSE_ENC_RSP
///       │          ┌─────┴────┐
///       └─────────▶│ pausing  │
///                  └──────────┘
///
/// Core 6.0, Vol 6, Part B, 5.1.3.
struct CentralEncryption: Sendable {
    private enum State: Sendable {
        case idle
        /// LL_PAUSE_ENC_REQ has been sent.
        case pausing(EncryptionTerms)
        /// LL_ENC_REQ has been sent.
        case requesting(EncryptionTerms, EncryptionPurpose)
        /// Both ends have the random values for the session key, but the peripheral still needs the long-term key from
        /// its host.
        case agreed(EncryptionSession, EncryptionPurpose)
        /// LL_START_ENC_RSP has been sent.
        case starting(EncryptionPurpose)
    }

    private var state = State.idle

    /// True while the procedure is running.
    var isUnderWay: Bool {
        if case .idle = state { false } else { true }
    }

    /// True if the peer already takes part in the procedure; it then sends only packets that belong to the procedure.
    var isExclusive: Bool {
        switch state {
        case .idle, .pausing, .requesting(_, .start): false
        case .requesting(_, .refresh), .agreed, .starting: true
        }
    }

    enum OnBegin {
        case pause
        case request(LL.EncryptionRequest)
    }

    /// Starts the procedure that the host has requested: a key refresh if `isEncrypted` is true, otherwise encryption.
    mutating func begin(_ terms: EncryptionTerms, isEncrypted: Bool) -> OnBegin {
        precondition(!isUnderWay, "only one procedure may run at a time")
        let action: OnBegin
        (state, action) =
            isEncrypted ? (.pausing(terms), .pause) : (.requesting(terms, .start), .request(terms.request))
        return action
    }

    enum OnPauseResponse {
        /// Encryption is paused. Send this request for a new session.
        case resume(LL.EncryptionRequest)
        case ignore
    }

    mutating func receivePauseResponse() -> OnPauseResponse {
        let action: OnPauseResponse
        (state, action) =
            switch state {
            case .pausing(let terms): (.requesting(terms, .refresh), .resume(terms.request))
            case .idle, .requesting, .agreed, .starting: (state, .ignore)
            }
        return action
    }

    /// Processes LL_ENC_RSP, which contains the peripheral's random values for the session.
    mutating func receive(_ response: LL.EncryptionResponse) {
        guard case .requesting(let terms, let purpose) = state else { return }
        state = .agreed(EncryptionSession(longTermKey: terms.longTermKey, terms.request, response), purpose)
    }

    enum OnStartRequest {
        /// Encrypt both directions with this session from now on.
        case start(EncryptionSession)
        case ignore
    }

    mutating func receiveStartRequest() -> OnStartRequest {
        let action: OnStartRequest
        (state, action) =
            switch state {
            case .agreed(let session, let purpose): (.starting(purpose), .start(session))
            case .idle, .pausing, .requesting, .starting: (state, .ignore)
            }
        return action
    }

    enum OnStartResponse {
        case encrypted(EncryptionPurpose)
        case ignore
    }

    mutating func receiveStartResponse() -> OnStartResponse {
        let action: OnStartResponse
        (state, action) =
            switch state {
            case .starting(let purpose): (.idle, .encrypted(purpose))
            case .idle, .pausing, .requesting, .agreed: (state, .ignore)
            }
        return action
    }

    enum OnRejection: Equatable {
        /// The procedure has failed, and the link continues as before.
        case failed(EncryptionPurpose)
        /// The link must end, because it is unencrypted, or encrypted at only one end, while the hosts expect
        /// encryption.
        case mustDisconnect
        case ignore
    }

    /// Processes a rejection from a peer that does not support encryption or has no key.
    mutating func receiveRejection() -> OnRejection {
        let action: OnRejection
        (state, action) =
            switch state {
            case .pausing: (.idle, .failed(.refresh))
            case .requesting(_, .start), .agreed(_, .start): (.idle, .failed(.start))
            case .requesting(_, .refresh), .agreed(_, .refresh), .starting: (.idle, .mustDisconnect)
            case .idle: (state, .ignore)
            }
        return action
    }
}
