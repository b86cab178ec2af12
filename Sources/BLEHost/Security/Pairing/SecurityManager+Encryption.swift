package import BLEWire

// Encryption with the new key, and the distribution of keys after that.
extension SecurityManager {
    /// Returns the key of the current pairing, if the controller's request identifies this key.
    ///
    /// The controller of a peripheral requests a key after the central has started encryption.
    ///
    /// - Returns: The key; `nil` if the request identifies another key, such as that of a bond, or if the devices have
    ///   not agreed on a key yet.
    ///
    /// Core 6.0, Vol 3, Part H, 2.4.4.
    package mutating func longTermKey(for random: UInt64, diversifier: UInt16) -> Key128? {
        guard role == .peripheral, random == 0, diversifier == 0,
            case .encrypting(let exchange, let key, _) = state
        else { return nil }
        state = .encrypting(exchange, key, isKeyTaken: true)
        pendingStrength = exchange.agreement.strength
        return key
    }

    /// Processes a change of the link's encryption.
    ///
    /// - Returns: The strength of the key with which the link is now encrypted, if this manager made that key, even if
    ///   the pairing has failed since then; `nil` if the link is not encrypted, or is encrypted with the key of a bond.
    @discardableResult
    package mutating func encryptionChanged(_ change: EncryptionChange, at now: Instant) -> PairingStrength? {
        let strength = pendingStrength.take()
        switch state {
        case .idle, .offered, .consenting, .authenticating, .locked: break
        case .requested:
            // The central has fulfilled the Security Request.
            if change == .on { state = .idle }
        case .encrypting(let exchange, let key, let isKeyTaken):
            // If the peripheral's controller has not requested the key, the link is encrypted with another key.
            if change != .on {
                end(.encryptionFailed, at: now)
            } else if role == .central || isKeyTaken {
                distribute(exchange, key, at: now)
            }
        case .distributing: if change != .on { end(.encryptionFailed, at: now) }
        }
        return change == .on ? strength : nil
    }

    /// Starts the distribution of keys, because the link is encrypted with the new key.
    private mutating func distribute(_ exchange: PairingExchange, _ key: Key128, at now: Instant) {
        let agreement = exchange.agreement
        let (given, due) =
            role == .central
            ? (agreement.initiatorKeys, agreement.responderKeys) : (agreement.responderKeys, agreement.initiatorKeys)
        var keys = KeyDistribution(role, identity: identity.address, own: makeKeys(given, agreement), due: due)
        let (packets, isOver) = keys.begin()
        lastSent = now
        state = .distributing(exchange, key, keys)
        for packet in packets { send(packet, at: now) }
        if isOver { finish(exchange, key, keys) }
    }

    /// Returns the keys in `given`, for distribution by this host.
    ///
    /// An LTK is generated, unless the configuration contains one.
    private mutating func makeKeys(_ given: SMP.KeyDistribution, _ agreement: PairingAgreement) -> KeyDistribution.Keys
    {
        var keys = KeyDistribution.Keys()
        if given.contains(.encryption) {
            keys.longTermKey = configuration.longTermKey?.shortened(agreement) ?? makeLongTermKey(agreement)
        }
        if given.contains(.identity) {
            keys.resolvingKey = identity.resolvingKey
            keys.identity = identity.address
        }
        if given.contains(.signing) { keys.signingKey = identity.signingKey }
        return keys
    }

    private mutating func makeLongTermKey(_ agreement: PairingAgreement) -> LongTermKey {
        var key = Key128.zero
        // A key of zeros would be no secret.
        while key == .zero { key = agreement.shortened(.random(using: &random)) }
        let diversifier = UInt16(truncatingIfNeeded: random.next()), name = random.next()
        return LongTermKey(key: key, random: name, diversifier: diversifier)
    }

    /// Completes the pairing once all keys have been exchanged.
    ///
    /// Nothing is stored before that.
    mutating func finish(_ exchange: PairingExchange, _ key: Key128, _ keys: KeyDistribution) {
        let agreement = exchange.agreement, strength = agreement.strength
        state = .idle
        attempts.succeeded()
        var bond: Bond?
        if agreement.isBonding {
            bond = makeBond(agreement, key, keys)
            existing = strength
        }
        outbox.append(.paired(PairingOutcome(method: agreement.method, strength: strength, bond: bond)))
    }

    private func makeBond(_ agreement: PairingAgreement, _ key: Key128, _ keys: KeyDistribution) -> Bond {
        let shared = agreement.isSecureConnections ? LongTermKey(key: key) : nil
        var bond = Bond(
            identity: keys.peer.identity ?? peer,
            security: agreement.method.isAuthenticated ? .authenticated : .encrypted,
            keySize: agreement.keySize,
            longTermKey: shared ?? keys.peer.longTermKey,
            remoteSigning: keys.peer.signingKey.map { RemoteSigning(key: $0) }
        )
        bond.isSecureConnections = agreement.isSecureConnections
        bond.localLongTermKey = shared == nil ? keys.own.longTermKey : nil
        bond.resolvingKey = keys.peer.resolvingKey == .zero ? nil : keys.peer.resolvingKey
        bond.localSigningKey = keys.own.signingKey
        return bond
    }
}

extension LongTermKey {
    /// Returns this key shortened to the agreed size.
    fileprivate func shortened(_ agreement: PairingAgreement) -> Self {
        Self(key: agreement.shortened(key), random: random, diversifier: diversifier)
    }
}
