import BLEWire

/// What a central's host wants a link encrypted with, and what the central drew for that.
struct EncryptionTerms: Equatable, Sendable {
    let longTermKey: Key128
    let request: LL.EncryptionRequest
}

/// Why a link is being encrypted, which is what hosts are told in the end.
enum EncryptionPurpose: Sendable {
    /// It was not encrypted.
    case start
    /// It gets another key.
    case refresh
}

/// Encrypts a link at the wish of the central's host, or encrypts it anew.
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
        /// LL_PAUSE_ENC_REQ is out.
        case pausing(EncryptionTerms)
        /// LL_ENC_REQ is out.
        case requesting(EncryptionTerms, EncryptionPurpose)
        /// Both ends know the session if they know the key, for which the other has to ask its host.
        case agreed(EncryptionSession, EncryptionPurpose)
        /// LL_START_ENC_RSP is out.
        case starting(EncryptionPurpose)
    }

    private var state = State.idle

    /// Whether the procedure has begun and not come to its end.
    var isUnderWay: Bool {
        if case .idle = state { false } else { true }
    }

    /// Whether the other end knows of the procedure and sends nothing that is no part of it.
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

    /// The host wants the link encrypted.
    mutating func begin(_ terms: EncryptionTerms, isEncrypted: Bool) -> OnBegin {
        precondition(!isUnderWay, "an end begins one procedure at a time")
        let action: OnBegin
        (state, action) =
            isEncrypted ? (.pausing(terms), .pause) : (.requesting(terms, .start), .request(terms.request))
        return action
    }

    enum OnPauseResponse {
        /// The pause has begun: neither end encrypts, and the central asks for the new session.
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

    /// The other end drew its half of the session.
    mutating func receive(_ response: LL.EncryptionResponse) {
        guard case .requesting(let terms, let purpose) = state else { return }
        state = .agreed(EncryptionSession(longTermKey: terms.longTermKey, terms.request, response), purpose)
    }

    enum OnStartRequest {
        /// Both ways are encrypted from now on.
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
        /// The link goes on as it was before.
        case failed(EncryptionPurpose)
        /// The link is not encrypted any more, or at one end alone, which no host expects: it ends.
        case exposed
        case ignore
    }

    /// The other end cannot encrypt, or has no key.
    mutating func receiveRejection() -> OnRejection {
        let action: OnRejection
        (state, action) =
            switch state {
            case .pausing: (.idle, .failed(.refresh))
            case .requesting(_, .start), .agreed(_, .start): (.idle, .failed(.start))
            case .requesting(_, .refresh), .agreed(_, .refresh), .starting: (.idle, .exposed)
            case .idle: (state, .ignore)
            }
        return action
    }
}
