package import BLEWire

/// The security manager of one link, which pairs with the peer in either role and by every method.
///
/// After each call, the owner calls ``next()`` until it returns `nil`, and carries out the actions: it sends packets on
/// channel 0x0006, encrypts the link, asks the user, and stores the bond of ``Output/paired(_:)``. The manager stores
/// nothing itself. An existing bond is unchanged until that output, so the owner may drop a manager at any time.
///
/// | event | call |
/// | --- | --- |
/// | an app or the peer needs a more secure link | ``pair(needsMITM:at:)`` |
/// | a packet on channel 0x0006 | ``receive(_:at:)`` |
/// | LE Long Term Key Request | ``longTermKey(for:diversifier:)``; if that returns `nil`, use the key of a bond |
/// | Encryption Change, Encryption Key Refresh Complete | ``encryptionChanged(_:at:)`` |
/// | an answer from the user | ``answer(_:at:)`` |
/// | the end of the link | ``disconnected(at:)``; then keep ``attempts`` for the next link |
///
/// Core 6.0, Vol 3, Part H.
package struct SecurityManager: Sendable {
    package enum Output: Equatable, Sendable {
        /// Send this packet on channel 0x0006.
        case send([UInt8])
        /// Encrypt the link with this key, or refresh its key; central only.
        case encrypt(LongTermKey)
        /// Ask the user. At most one question is open.
        case ask(PairingQuestion)
        /// Withdraw the open question.
        case withdraw
        /// The peripheral requests security. The owner encrypts with the existing bond if the bond is sufficient,
        /// otherwise it pairs. The owner must not remove the bond because of this request.
        ///
        /// MITM protection in the request is only a preference: ``Configuration/Protection/preferred`` provides it if
        /// possible, and the peripheral rejects a result that is not sufficient.
        case securityRequested(SMP.AuthenticationRequirements)
        /// A pairing has completed, and the link is encrypted with its key.
        case paired(PairingOutcome)
        /// A pairing, or the request for a pairing, has failed.
        case failed(PairingFailure)
        case note(SecurityNote)
    }

    enum State: Sendable {
        case idle
        /// The peripheral has sent a Security Request.
        case requested(needsMITM: Bool)
        /// The central has sent its Pairing Request.
        case offered(SMP.PairingFeatures, needsMITM: Bool)
        /// The user is asked whether to continue; the peripheral has its Pairing Response ready.
        case consenting(PairingExchange, SMP.PairingFeatures)
        case authenticating(PairingExchange, Authentication)
        /// The devices have agreed on a key, and the link is being encrypted with it. `isKeyTaken` is true if the
        /// peripheral's controller has requested the key.
        case encrypting(PairingExchange, Key128, isKeyTaken: Bool)
        case distributing(PairingExchange, Key128, KeyDistribution)
        /// A procedure has timed out, and no other procedure may start on this link.
        case locked
    }

    enum Authentication: Sendable {
        case legacy(LegacyAuthentication)
        case secure(SecureAuthentication)
    }

    let role: LinkRole
    let local: DeviceAddress
    let peer: DeviceAddress
    let identity: Identity
    /// The configuration of future pairings.
    package var configuration: Configuration
    /// The strength of the existing bond, if there is one.
    ///
    /// A weaker pairing is refused.
    package var existing: PairingStrength?
    /// The failed attempts of this peer, which the host keeps across links.
    package internal(set) var attempts: RepeatedAttempts
    var random: RandomSource
    var state = State.idle
    /// The time of the last sent packet, or of the start of the procedure.
    var lastSent = Instant()
    /// The open question to the user; `nil` if there is none.
    var question: PairingQuestion?
    /// The strength of the key that was passed to the controller and is not in use yet.
    var pendingStrength: PairingStrength?
    var outbox = OutputQueue<Output>()

    /// Creates the security manager of a new link.
    ///
    /// - Parameters:
    ///   - role: The role of this host on the link.
    ///   - local: The address of this host on the link, which may be private.
    ///   - peer: The address of the peer on the link, which may be private.
    ///   - identity: The identity that this host sends to the peer.
    ///   - configuration: The offered and required properties of pairing.
    ///   - existing: The strength of the existing bond with this peer, if any.
    ///   - attempts: The failed pairing attempts with this peer on earlier links.
    ///   - random: The source of keys and numbers, which must be unpredictable.
    package init(
        role: LinkRole,
        local: DeviceAddress,
        peer: DeviceAddress,
        identity: Identity,
        configuration: Configuration = Configuration(),
        existing: PairingStrength? = nil,
        attempts: RepeatedAttempts = RepeatedAttempts(),
        random: any RandomNumberGenerator & Sendable
    ) {
        precondition(
            SMP.keySizes.contains(configuration.leastKeySize) && SMP.keySizes.contains(configuration.greatestKeySize),
            "the key size must be 7 to 16 octets"
        )
        self.role = role
        self.local = local.onAir
        self.peer = peer.onAir
        self.identity = identity
        self.configuration = configuration
        self.existing = existing
        self.attempts = attempts
        self.random = random
    }

    /// Returns the next action, or `nil` if there are no more.
    package mutating func next() -> Output? { outbox.next() }

    /// The time at which to call ``wake(at:)`` unless something happens first.
    package var deadline: Instant? { isUnderWay ? lastSent + SMP.timeout : nil }

    /// True during a pairing, or while a request for a pairing is outstanding.
    package var isUnderWay: Bool {
        switch state {
        case .idle, .locked: false
        case .requested, .offered, .consenting, .authenticating, .encrypting, .distributing: true
        }
    }

    /// The key of the current pairing, and its strength; `nil` until the devices have agreed on a key, and while there
    /// is no pairing.
    package var agreedKey: (key: LongTermKey, strength: PairingStrength)? {
        switch state {
        case .encrypting(let exchange, let key, _), .distributing(let exchange, let key, _):
            (LongTermKey(key: key), exchange.agreement.strength)
        case .idle, .requested, .offered, .consenting, .authenticating, .locked: nil
        }
    }

    /// True while the link is being encrypted with a new key.
    ///
    /// If the peer sends its keys during that time, the pairing fails: the keys may not have been encrypted, and may
    /// come from a man in the middle.
    package var isEncrypting: Bool {
        if case .encrypting = state { true } else { false }
    }

    /// Returns whether this host can start a pairing; `false` if the pairing would fail with every peer.
    ///
    /// `needsMITM` is true if the key must be protected against a man in the middle.
    package func canPair(needsMITM: Bool) -> Bool { terms(needsMITM: needsMITM).canSucceed }

    /// Starts a pairing as the central, or asks the central for security as the peripheral.
    ///
    /// A central must not call this while the link is being encrypted.
    ///
    /// ``Output/paired(_:)`` or ``Output/failed(_:)`` reports the result. If a pairing is already in progress, they
    /// report the result of that pairing.
    ///
    /// - Parameters:
    ///   - needsMITM: True if the key must be protected against a man in the middle.
    ///   - now: The current time.
    package mutating func pair(needsMITM: Bool, at now: Instant) {
        switch state {
        case .locked: return outbox.append(.failed(.timedOut))
        case .requested(needsMITM: false) where needsMITM: break
        case .requested, .offered, .consenting, .authenticating, .encrypting, .distributing: return
        case .idle: break
        }
        if let due = attempts.next(at: now) { return outbox.append(.failed(.tooSoon(until: due))) }
        let terms = terms(needsMITM: needsMITM)
        switch role {
        case .central:
            state = .offered(terms.request, needsMITM: needsMITM)
            send(.pairingRequest(terms.request), at: now)
        case .peripheral:
            state = .requested(needsMITM: needsMITM)
            send(.securityRequest(.init(terms.authentication)), at: now)
        }
    }

    package mutating func wake(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        timeOut(at: now)
    }

    /// Ends the current procedure because the peer does not continue it.
    ///
    /// No other procedure may start on this link.
    package mutating func timeOut(at now: Instant) {
        guard isUnderWay else { return }
        end(.timedOut, at: now)
        state = .locked
    }

    /// Records that the existing bond was removed.
    ///
    /// A request for security ends: the central may answer it by encrypting with the bond, which is no longer possible,
    /// and must not use it to start a pairing that this host would not admit otherwise.
    mutating func bondRemoved(at now: Instant) {
        existing = nil
        if case .requested = state { end(.refused(.unspecified), at: now) }
    }

    /// Records the end of the link.
    ///
    /// The manager must not be used afterwards.
    package mutating func disconnected(at now: Instant) {
        if isUnderWay { end(.disconnected, at: now) }
    }

    func terms(needsMITM: Bool) -> PairingTerms {
        PairingTerms(
            role: role,
            configuration: configuration,
            identity: identity,
            existing: existing,
            needsMITM: needsMITM
        )
    }

    mutating func send(_ packet: SMPPacket, at now: Instant) {
        lastSent = now
        outbox.append(.send(packet.encoded))
    }

    mutating func ask(_ question: PairingQuestion) {
        self.question = question
        outbox.append(.ask(question))
    }

    /// Withdraws the open question.
    mutating func withdraw() {
        guard question.take() != nil else { return }
        outbox.append(.withdraw)
    }

    /// Ends the current procedure and sends the reason to the peer.
    ///
    /// `isLocal` is true if this host or its user declined; the failure then does not delay the next attempt.
    mutating func refuse(_ reason: SMP.Reason, isLocal: Bool = false, at now: Instant) {
        send(.pairingFailed(.init(reason)), at: now)
        end(.refused(reason), isLocal: isLocal, at: now)
    }

    /// Returns whether a failure delays the next attempt.
    ///
    /// The result is true if the peer may have tried to guess a secret, or if the peer gave up while the user was being
    /// asked for consent.
    private func countsAsAttempt(_ failure: PairingFailure) -> Bool {
        switch (state, failure) {
        case (.authenticating, _), (.consenting, .refusedByPeer), (.consenting, .disconnected): true
        case (.idle, _), (.requested, _), (.offered, _), (.consenting, _), (.encrypting, _), (.distributing, _),
            (.locked, _):
            false
        }
    }

    /// Ends the current procedure.
    ///
    /// `isLocal` is true if this host or its user declined; the failure then does not delay the next attempt.
    mutating func end(_ failure: PairingFailure, isLocal: Bool = false, at now: Instant) {
        if !isLocal, countsAsAttempt(failure) { attempts.failed(at: now) }
        state = .idle
        withdraw()
        outbox.append(.failed(failure))
    }
}
