import BLEWire

// What the peer does only on a link that it can trust is asked once more when it can.
extension GATTClient {
    /// Begins with a peer that has the address of a bonded one: nothing is asked before it has shown to be that.
    mutating func claim(_ claimed: Bond) {
        bond = PeerBond(claimed: claimed)
        trust.bond()
        awaitsSecurity = true
    }

    /// Takes note that the peer has shown that a bond is with it, which need not have a key for links.
    mutating func prove(_ proven: Bond) {
        bond.prove(proven)
        if proven.longTermKey(as: role) != nil { trust.bond() }
    }

    /// Takes note that there is no bond with the peer any more.
    mutating func unbond() {
        bond.forget()
        trust.unbond()
        caching = .none
    }

    /// Takes note of how the link is protected from now on: ``LinkTrust/secure(_:keySize:leastKeySize:)``.
    mutating func secure(_ security: LinkSecurity, keySize: Int, leastKeySize: Int) {
        trust.secure(security, keySize: keySize, leastKeySize: leastKeySize)
        considerBearers()
    }

    /// Lets the peer do what needs an authorisation, or no more.
    mutating func authorize(_ isAuthorized: Bool) { trust.isAuthorized = isAuthorized }

    /// Takes note that the peer refuses a request of a client since it does not trust the link far enough.
    ///
    /// It is begun once more when the link can be trusted further, and nobody asks for anything meanwhile. If it can be
    /// by now, that is at once.
    mutating func refused(_ finished: ClientProcedure, for code: ATT.ErrorCode, into outbox: inout Outbox) {
        var finished = finished
        finished.refuse(.security(code))
        stall(finished, into: &outbox)
        guard trust.security <= finished.security, !awaitsSecurity else { return }
        awaitsSecurity = true
        outbox.append(.secure(link, for: code))
    }

    /// Goes on after the link was made as trustworthy as it can be, or could not be.
    mutating func securityAnswered(_ answer: SecurityAnswer, at now: Instant, into outbox: inout Outbox) {
        awaitsSecurity = false
        if answer != .secured { failRefused(answer.failure, into: &outbox) }
        proceed(at: now, into: &outbox)
    }

    /// Answers what the peer refused for want of trust, as the peer did unless there is more to say.
    private mutating func failRefused(_ failure: Failure?, into outbox: inout Outbox) {
        let refused = bearers.removeStalled { one in
            if case .security = one.refusal { true } else { false }
        }
        for one in refused {
            guard case .security(let code) = one.refusal else { continue }
            fail(one, with: failure ?? .att(code), into: &outbox)
        }
    }
}

/// What came of the wish that a link be trusted further.
package enum SecurityAnswer: Equatable, Sendable {
    /// It can be.
    case secured
    /// It cannot, for this reason; `nil` if what the peer said is all there is to say.
    case refused(Failure?)

    fileprivate var failure: Failure? {
        switch self {
        case .secured: nil
        case .refused(let failure): failure
        }
    }
}

extension Procedure.Outcome {
    /// The code if the peer refused this for want of a link that it trusts far enough.
    ///
    /// Core 6.0, Vol 3, Part C, 10.3.1; Part F, 3.4.1.1.
    var lackOfSecurity: ATT.ErrorCode? {
        let failure: Failure? =
            switch self {
            case .read(.failure(let failure), _), .found(.failure(let failure), _): failure
            case .written(let failure, _): failure
            case .configured(let outcome, _): outcome.failure
            case .read, .found, .mtu, .name, .watching, .databaseHash, .serverFeatures: nil
            }
        guard case .att(let code)? = failure, [.insufficientAuthentication, .insufficientEncryption].contains(code)
        else { return nil }
        return code
    }
}
