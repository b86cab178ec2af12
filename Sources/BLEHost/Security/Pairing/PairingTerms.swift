import BLEWire

/// The pairing features that this host offers, and the check of the features that both devices agree on.
struct PairingTerms {
    let role: LinkRole
    let configuration: SecurityManager.Configuration
    let identity: SecurityManager.Identity
    /// The strength of the existing bond with the peer, if there is one.
    let existing: PairingStrength?
    /// True if this pairing must provide MITM protection.
    let needsMITM: Bool

    /// The keys that this host can distribute.
    ///
    /// They are all for LE. This host derives no key for BR/EDR.
    private static let possibleKeys: SMP.KeyDistribution = [.encryption, .identity, .signing]

    private var protection: SecurityManager.Configuration.Protection {
        needsMITM || existing?.isAuthenticated == true ? .required : configuration.protection
    }

    /// True if legacy pairing is refused.
    ///
    /// The peer's out-of-band data are for LE Secure Connections. A man in the middle must not be able to prevent their
    /// use with legacy pairing.
    private var requiresSecureConnections: Bool {
        configuration.secureConnections == .required || existing?.isSecureConnections == true
            || configuration.outOfBand.remote != nil
    }

    /// True if a pairing that this host starts can succeed with at least some peers.
    ///
    /// If false, this host starts no pairing, because some devices delete their bond as soon as another device requests
    /// a pairing.
    ///
    /// As the peripheral, this host starts with a Security Request. The central may answer it by encrypting with the
    /// existing bond, which also counts as success.
    var canSucceed: Bool {
        if configuration.canProtect { return true }
        return switch role {
        case .central: protection != .required
        case .peripheral: !needsMITM || existing?.isAuthenticated == true
        }
    }

    /// The authentication requirements of this host.
    var authentication: SMP.AuthenticationRequirements {
        authentication(isSecureConnections: configuration.secureConnections != .off)
    }

    private func authentication(isSecureConnections: Bool) -> SMP.AuthenticationRequirements {
        var bits: SMP.AuthenticationRequirements = []
        if configuration.isBonding { bits.insert(.bonding) }
        if protection == .required || protection == .preferred && configuration.canProtect { bits.insert(.mitm) }
        if isSecureConnections { bits.insert(.secureConnections) }
        return bits
    }

    /// Returns whether to offer LE Secure Connections to a peer.
    ///
    /// `isHolder` is true if the peer may have a temporary key. If this host has one as well, legacy pairing is
    /// intended, so LE Secure Connections is not offered.
    private func offersSecureConnections(toHolderOfKey isHolder: Bool) -> Bool {
        configuration.secureConnections != .off && (configuration.outOfBand.temporaryKey == nil || !isHolder)
    }

    /// The Pairing Request.
    var request: SMP.PairingFeatures {
        var features = SMP.PairingFeatures()
        features.ioCapability = configuration.ioCapability
        let isSecureConnections = offersSecureConnections(toHolderOfKey: true)
        features.authentication = authentication(isSecureConnections: isSecureConnections)
        features.outOfBand = flag(isSecureConnections: isSecureConnections)
        features.greatestKeySize = UInt8(configuration.greatestKeySize)
        guard configuration.isBonding else { return features }
        features.initiatorKeys = available(configuration.initiatorKeys)
        features.responderKeys = configuration.responderKeys.intersection(Self.possibleKeys)
        return features
    }

    /// Returns the Pairing Response to a request.
    func response(to request: SMP.PairingFeatures) -> SMP.PairingFeatures {
        var features = SMP.PairingFeatures()
        features.ioCapability = configuration.ioCapability
        let isOffered = offersSecureConnections(toHolderOfKey: request.outOfBand == .present)
        features.authentication = authentication(isSecureConnections: isOffered)
        let isSecureConnections = isOffered && request.authentication.contains(.secureConnections)
        features.outOfBand = flag(isSecureConnections: isSecureConnections)
        features.greatestKeySize = UInt8(configuration.greatestKeySize)
        guard configuration.isBonding, request.authentication.isBonding else { return features }
        features.initiatorKeys = request.initiatorKeys.intersection(configuration.initiatorKeys)
            .intersection(Self.possibleKeys)
        features.responderKeys = request.responderKeys.intersection(available(configuration.responderKeys))
        if isSecureConnections {
            features.initiatorKeys.remove(.encryption)
            features.responderKeys.remove(.encryption)
        }
        return features
    }

    /// Returns the reason why this host refuses the agreed features; `nil` if it accepts them.
    func refusal(
        of agreement: PairingAgreement,
        request: SMP.PairingFeatures,
        response: SMP.PairingFeatures
    ) -> SMP.Reason? {
        let peer = role == .central ? response : request
        guard SMP.keySizes.contains(Int(peer.greatestKeySize)) else { return .invalidParameters }
        let known: SMP.KeyDistribution = [.encryption, .identity, .signing, .link]
        guard response.initiatorKeys.intersection(known).isSubset(of: request.initiatorKeys),
            response.responderKeys.intersection(known).isSubset(of: request.responderKeys)
        else { return .invalidParameters }
        if requiresSecureConnections, !agreement.isSecureConnections { return .authenticationRequirements }
        if protection == .required, !agreement.method.isAuthenticated { return .authenticationRequirements }
        if agreement.keySize < max(configuration.leastKeySize, existing?.keySize ?? 0) { return .encryptionKeySize }
        if agreement.method == .outOfBand, !hasOutOfBandData(agreement, peer) { return .oobNotAvailable }
        return nil
    }

    /// Returns the question that the user must answer before this host continues; `nil` if no answer is needed.
    func consent(to agreement: PairingAgreement) -> PairingQuestion? {
        guard agreement.method == .justWorks else { return nil }
        if existing != nil { return .consent(replacesBond: true) }
        let asks = role == .peripheral ? configuration.asksForConsent : configuration.asksForConsentAsCentral
        return asks ? .consent(replacesBond: false) : nil
    }

    private func flag(isSecureConnections: Bool) -> SMP.OutOfBandFlag {
        let data = configuration.outOfBand
        return (isSecureConnections ? data.remote != nil : data.temporaryKey != nil) ? .present : .notPresent
    }

    private func hasOutOfBandData(_ agreement: PairingAgreement, _ peer: SMP.PairingFeatures) -> Bool {
        let data = configuration.outOfBand
        guard agreement.isSecureConnections else { return data.temporaryKey != nil }
        return peer.outOfBand == .notPresent || data.local != nil
    }

    /// Returns the subset of `keys` that this host has.
    private func available(_ keys: SMP.KeyDistribution) -> SMP.KeyDistribution {
        var keys = keys.intersection(Self.possibleKeys)
        if identity.resolvingKey == nil { keys.remove(.identity) }
        if identity.signingKey == nil { keys.remove(.signing) }
        return keys
    }
}
