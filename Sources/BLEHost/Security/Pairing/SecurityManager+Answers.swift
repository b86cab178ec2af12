package import BLEWire

// The user's answers.
extension SecurityManager {
    /// Processes the user's answer to the open question.
    package mutating func answer(_ reply: PairingReply, at now: Instant) {
        if reply == .cancel { return cancel(at: now) }
        switch (question, reply) {
        case (.consent, .confirm(let isWanted)):
            question = nil
            guard isWanted else { return refuse(.unspecified, isLocal: true, at: now) }
            guard case .consenting(let exchange, let response) = state else { return }
            authenticate(exchange, response, at: now)
        case (.compare, .confirm(let isSame)):
            question = nil
            guard isSame else { return refuse(.numericComparisonFailed, at: now) }
            passAnswer(at: now) { machine, _ in
                machine.confirm()
            } legacy: { _, _ in
                []
            }
        case (.enterPasskey, .passkey(let passkey)):
            question = nil
            guard SMP.passkeys.contains(passkey) else { return refuse(.passkeyEntryFailed, isLocal: true, at: now) }
            passAnswer(at: now) { machine, random in
                machine.enter(passkey, using: &random)
            } legacy: { machine, random in
                machine.enter(passkey, using: &random)
            }
        case (.enterPasskey, .confirm(false)), (.display, .confirm(false)): cancel(at: now)
        case (.display, .confirm(true)): break
        case (.consent, _), (.compare, _), (.enterPasskey, _), (.display, _), (nil, _):
            outbox.append(.note(.unsolicitedReply))
        }
    }

    private mutating func cancel(at now: Instant) {
        guard isUnderWay else { return outbox.append(.note(.unsolicitedReply)) }
        let reason: SMP.Reason =
            switch question {
            case .enterPasskey, .display: .passkeyEntryFailed
            case .compare: .numericComparisonFailed
            case .consent, nil: .unspecified
            }
        refuse(reason, isLocal: true, at: now)
    }

    /// Passes the user's answer to the authentication phase that has asked for it.
    ///
    /// `secure` is called during LE Secure Connections pairing, and `legacy` during legacy pairing.
    private mutating func passAnswer(
        at now: Instant,
        secure: (inout SecureAuthentication, inout RandomSource) -> [PairingAction],
        legacy: (inout LegacyAuthentication, inout RandomSource) -> [PairingAction]
    ) {
        guard case .authenticating(let exchange, let authentication) = state else { return }
        advance(exchange, authentication, at: now) { phase, random in
            switch phase {
            case .legacy(var machine):
                defer { phase = .legacy(machine) }
                return legacy(&machine, &random)
            case .secure(var machine):
                defer { phase = .secure(machine) }
                return secure(&machine, &random)
            }
        }
    }
}
