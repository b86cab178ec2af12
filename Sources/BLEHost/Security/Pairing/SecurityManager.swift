package import BLEWire

/// The security manager of one link: it pairs with the peer, in either role and by every method.
///
/// A value, as every core: it is told what happened, and asked what to do then. Whoever owns it has ``next()`` drained
/// after each call, sends what it says on channel 0x0006, encrypts when it says so, asks the user, and keeps the bond
/// of ``Output/paired(_:)``. It keeps nothing itself; before that output, nothing of an earlier pairing is touched, and
/// a manager that is dropped leaves nothing behind.
///
/// | the host learns | and calls |
/// | --- | --- |
/// | that an app or the peer needs a safer link | ``pair(needsMITM:at:)`` |
/// | of a packet on channel 0x0006 | ``receive(_:at:)`` |
/// | of an LE Long Term Key Request | ``longTermKey(for:diversifier:)``, and only if that is `nil` looks for a bond |
/// | of Encryption Change, Encryption Key Refresh Complete | ``encryptionChanged(_:at:)`` |
/// | what the user says | ``answer(_:at:)`` |
/// | that the link has ended | ``disconnected(at:)``, and keeps ``attempts`` |
///
/// Core 6.0, Vol 3, Part H.
package struct SecurityManager: Sendable {
    package enum Output: Equatable, Sendable {
        /// To be sent on channel 0x0006.
        case send([UInt8])
        /// The central is to encrypt the link, or encrypt it anew, with this key.
        case encrypt(LongTermKey)
        /// Somebody is to be asked; at most one question is open.
        case ask(PairingQuestion)
        /// The open question is asked no more.
        case withdraw
        /// The peripheral wants a safer link: the central encrypts it with its bond if that is good enough, and pairs
        /// otherwise. A bond is not to be dropped for it. What the request says of MITM is a wish, which
        /// ``Configuration/Protection/preferred`` fulfils if it can be; the peripheral refuses what will not do for it.
        case securityRequested(SMP.AuthenticationRequirements)
        /// A pairing has come to its end, and the link is encrypted with what came of it.
        case paired(PairingOutcome)
        /// A pairing, or what was to become one, has come to nothing.
        case failed(PairingFailure)
        case note(SecurityNote)
    }

    enum State: Sendable {
        case idle
        /// The peripheral has asked the central for a safer link.
        case requested(needsMITM: Bool)
        /// The central has sent its Pairing Request.
        case offered(SMP.PairingFeatures, needsMITM: Bool)
        /// The user is asked whether to go on; the peripheral has its Pairing Response ready.
        case consenting(PairingExchange, SMP.PairingFeatures)
        case authenticating(PairingExchange, Authentication)
        /// There is a key, and the link is to be encrypted with it; the peripheral's controller may have asked for it.
        case encrypting(PairingExchange, Key128, isKeyTaken: Bool)
        case distributing(PairingExchange, Key128, KeyDistribution)
        /// A procedure took too long, and none may follow on this link.
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
    /// What this host offers in pairings that have not begun.
    package var configuration: Configuration
    /// How much the bond with this peer is worth, if there is one: a pairing that would come to less is refused.
    ///
    /// The host has it be `nil` when the bond is removed.
    package var existing: PairingStrength?
    /// How often pairing with this peer has failed; the host keeps it over links.
    package internal(set) var attempts: RepeatedAttempts
    var random: RandomSource
    var state = State.idle
    /// When a packet was sent last, or the procedure began.
    var lastSent = Instant()
    /// What the user has been asked and has not answered.
    var question: PairingQuestion?
    /// What a key is worth that the controller has been given and has not used yet.
    var handedOut: PairingStrength?
    var outbox = OutputQueue<Output>()

    /// Creates the manager of a link that has just come up.
    ///
    /// - Parameters:
    ///   - role: What this host is on the link.
    ///   - local: The address that this host uses on the link, which may be a private one.
    ///   - peer: The address that the peer uses on the link, likewise.
    ///   - identity: What this host tells the peer of itself.
    ///   - configuration: What it offers and wants.
    ///   - existing: How much the bond with this peer is worth, if there is one.
    ///   - attempts: How often pairing with this peer has failed on earlier links.
    ///   - random: Where keys and numbers come from: nobody may be able to guess them.
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
            "a key has 7 to 16 octets"
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

    /// What is to be done next; call until it is `nil`.
    package mutating func next() -> Output? { outbox.next() }

    /// When to call ``wake(at:)``, if nothing happens before.
    package var deadline: Instant? { isUnderWay ? lastSent + SMP.timeout : nil }

    /// Whether a pairing, or the request for one, is not over.
    package var isUnderWay: Bool {
        switch state {
        case .idle, .locked: false
        case .requested, .offered, .consenting, .authenticating, .encrypting, .distributing: true
        }
    }

    /// The key that the pairing under way has come to, and what it is worth; `nil` before and afterwards.
    package var agreedKey: (key: LongTermKey, strength: PairingStrength)? {
        switch state {
        case .encrypting(let exchange, let key, _), .distributing(let exchange, let key, _):
            (LongTermKey(key: key), exchange.agreement.strength)
        case .idle, .requested, .offered, .consenting, .authenticating, .locked: nil
        }
    }

    /// Whether there is a key that the link is to be encrypted with, and it is not yet.
    ///
    /// Meanwhile keys of the peer come too early, and end the pairing: nobody can tell whether they were encrypted, or
    /// are those of somebody who stands in between.
    package var isEncrypting: Bool {
        if case .encrypting = state { true } else { false }
    }

    /// Whether a pairing that this host begins can come to what is needed, whatever the peer has.
    package func canPair(needsMITM: Bool) -> Bool { terms(needsMITM: needsMITM).canSucceed }

    /// Begins to pair as the central, which must not be encrypting the link meanwhile; as the peripheral, asks the
    /// central for a safer link.
    ///
    /// What comes of it is told by ``Output/paired(_:)`` or ``Output/failed(_:)``. If a pairing is under way already,
    /// this is the one whose end is told, whatever it was begun for.
    ///
    /// - Parameters:
    ///   - needsMITM: Whether a key is of no use unless it keeps out who may stand in between.
    ///   - now: When that is.
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

    /// The time has come.
    package mutating func wake(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        timeOut(at: now)
    }

    /// Ends the procedure under way, and lets none follow on this link, since the peer does not go on.
    package mutating func timeOut(at now: Instant) {
        guard isUnderWay else { return }
        end(.timedOut, at: now)
        state = .locked
    }

    /// The link has ended; nothing is to be called after that.
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

    /// The question that is open is of no use any more.
    mutating func withdraw() {
        guard question.take() != nil else { return }
        outbox.append(.withdraw)
    }

    /// Ends the procedure under way, and tells the peer why.
    mutating func refuse(_ reason: SMP.Reason, isOwnWish: Bool = false, at now: Instant) {
        send(.pairingFailed(.init(reason)), at: now)
        end(.refused(reason), isOwnWish: isOwnWish, at: now)
    }

    /// Whether what ends now may not be had again at once: a secret may have been at stake, and each failure may be a
    /// guess at it; or the user is asked, and nobody may have that done again and again.
    private func isTry(_ failure: PairingFailure) -> Bool {
        switch (state, failure) {
        case (.authenticating, _), (.consenting, .refusedByPeer), (.consenting, .disconnected): true
        case (.idle, _), (.requested, _), (.offered, _), (.consenting, _), (.encrypting, _), (.distributing, _),
            (.locked, _):
            false
        }
    }

    /// Ends the procedure under way.
    mutating func end(_ failure: PairingFailure, isOwnWish: Bool = false, at now: Instant) {
        if !isOwnWish, isTry(failure) { attempts.failed(at: now) }
        state = .idle
        withdraw()
        outbox.append(.failed(failure))
    }
}
