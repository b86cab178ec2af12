import BLEWire

// What the peer does only on a link that it can trust is asked once more when it can.
extension GATTClient {
    /// Starts with a peer that has the address of a bonded one.
    ///
    /// It gets no requests before it has proven the bond.
    mutating func claim(_ claimed: Bond) {
        bond = PeerBond(claimed: claimed)
        trust.bond()
        awaitsSecurity = true
    }

    /// Records that the peer has proven a bond, which need not have an LTK.
    mutating func prove(_ proven: Bond) {
        bond.prove(proven)
        if proven.longTermKey(as: role) != nil { trust.bond() }
    }

    /// Records that there is no bond with the peer any more.
    mutating func unbond() {
        bond.forget()
        trust.unbond()
        caching = .none
    }

    /// Sets the security of the link: ``LinkTrust/secure(_:keySize:leastKeySize:)``.
    mutating func secure(_ security: LinkSecurity, keySize: Int, leastKeySize: Int) {
        trust.secure(security, keySize: keySize, leastKeySize: leastKeySize)
        considerBearers()
    }

    /// Grants or revokes the peer's authorization.
    mutating func authorize(_ isAuthorized: Bool) { trust.isAuthorized = isAuthorized }

    /// Records that the peer rejected a client's request for insufficient security.
    ///
    /// It is repeated when the link is secure enough, and nothing else is sent meanwhile. If the link is already secure
    /// enough, that is immediately.
    mutating func refused(_ finished: ClientProcedure, for code: ATT.ErrorCode, into outbox: inout Outbox) {
        var finished = finished
        finished.refuse(.security(code))
        stall(finished, into: &outbox)
        guard trust.security <= finished.security, !awaitsSecurity else { return }
        awaitsSecurity = true
        outbox.append(.secure(link, for: code))
    }

    /// Continues after the security of the link was raised, or could not be.
    mutating func securityAnswered(_ answer: SecurityAnswer, at now: Instant, into outbox: inout Outbox) {
        awaitsSecurity = false
        if answer != .secured { failRefused(answer.failure, into: &outbox) }
        proceed(at: now, into: &outbox)
    }

    /// Fails requests that the peer rejected for insufficient security, with the peer's error unless there is a better
    /// one.
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

/// The result of raising the security of a link.
package enum SecurityAnswer: Equatable, Sendable {
    /// The link is secure enough.
    case secured
    /// Failed for this reason; `nil` if the peer's error is the best description.
    case refused(Failure?)

    fileprivate var failure: Failure? {
        switch self {
        case .secured: nil
        case .refused(let failure): failure
        }
    }
}

extension Procedure.Outcome {
    /// The error code if the peer rejected the request for insufficient security.
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
