import BLEWire

// Security: if the peer rejects a request because the link is not secure enough, the request is repeated on the secured
// link.
extension GATTClient {
    /// Records that the peer uses the address of a bonded device, whose stored data is `claimed`.
    ///
    /// The peer gets no requests before it has proven the bond.
    mutating func claim(_ claimed: Bond) {
        bond = PeerBond(claimed: claimed)
        trust.bondAdded()
        awaitsSecurity = true
    }

    /// Records that the peer has proven a bond.
    ///
    /// The link can be encrypted with the bond only if the bond contains an LTK for the local role.
    mutating func prove(_ proven: Bond) {
        bond.prove(proven)
        if proven.longTermKey(as: role) != nil { trust.bondAdded() }
    }

    /// Records that the bond with the peer no longer exists.
    mutating func unbond() {
        bond.forget()
        trust.bondRemoved()
        caching = .none
        isCachingForBond = false
        confirmed = nil
    }

    /// Sets the strength of the link's key; see ``LinkTrust/secure(_:leastKeySize:)``.
    ///
    /// If the link is encrypted, the host may then start to open enhanced bearers.
    mutating func secure(_ strength: PairingStrength?, leastKeySize: Int) {
        trust.secure(strength, leastKeySize: leastKeySize)
        considerBearers()
    }

    /// Grants or revokes the peer's authorization.
    mutating func authorize(_ isAuthorized: Bool) { trust.isAuthorized = isAuthorized }

    /// Records that the peer rejected a client's request because the link is not secure enough.
    ///
    /// The request is repeated when the security has been raised; until the attempt to raise it ends, no other request
    /// is sent. If the security has already increased since the request was started, the request is repeated
    /// immediately.
    mutating func refused(_ finished: ClientProcedure, for code: ATT.ErrorCode, into outbox: inout Outbox) {
        var finished = finished
        finished.refuse(.security(code))
        queueForRepetition(finished, into: &outbox)
        guard trust.security <= finished.security, !awaitsSecurity else { return }
        awaitsSecurity = true
        outbox.append(.secure(link, for: code))
    }

    /// Ends the wait for an attempt to raise the security of the link.
    ///
    /// If the attempt failed, the requests that the peer had rejected because of insufficient security fail. All other
    /// waiting requests continue.
    mutating func securityAnswered(_ answer: SecurityAnswer, at now: Instant, into outbox: inout Outbox) {
        awaitsSecurity = false
        if answer != .secured { failRefused(answer.failure, into: &outbox) }
        proceed(at: now, into: &outbox)
    }

    /// Fails the requests that the peer rejected because the link is not secure enough: with `failure`, or with the
    /// peer's error if `failure` is `nil`.
    private mutating func failRefused(_ failure: Failure?, into outbox: inout Outbox) {
        let refused = bearers.removeProceduresToRepeat { one in
            if case .security = one.refusal { true } else { false }
        }
        for one in refused {
            guard case .security(let code) = one.refusal else { continue }
            fail(one, with: failure ?? .att(code), into: &outbox)
        }
    }
}

/// The result of an attempt to raise the security of a link.
package enum SecurityAnswer: Equatable, Sendable {
    /// The link is secure enough.
    case secured
    /// The attempt failed for this reason; `nil` if the request is to fail with the error that the peer sent.
    case refused(Failure?)

    fileprivate var failure: Failure? {
        switch self {
        case .secured: nil
        case .refused(let failure): failure
        }
    }
}

extension Procedure.Outcome {
    /// The error code with which the peer rejected the request because the link is not secure enough; `nil` for any
    /// other outcome.
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
