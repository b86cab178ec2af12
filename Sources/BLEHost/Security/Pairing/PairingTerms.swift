import BLEWire

/// What this host offers to a peer, and whether what comes of that will do.
///
/// Core 6.0, Vol 3, Part H, 2.3.
struct PairingTerms {
    let role: LinkRole
    let configuration: SecurityManager.Configuration
    let identity: SecurityManager.Identity
    /// What an earlier pairing with the peer came to, if that is kept.
    let existing: PairingStrength?
    /// Whether this pairing is made in order to keep out who may stand in between.
    let needsMITM: Bool

    /// The keys that there are for LE: none for BR/EDR is ever derived.
    private static let possibleKeys: SMP.KeyDistribution = [.encryption, .identity, .signing]

    private var protection: SecurityManager.Configuration.Protection {
        needsMITM || existing?.isAuthenticated == true ? .required : configuration.protection
    }

    private var requiresSecureConnections: Bool {
        configuration.secureConnections == .required || existing?.isSecureConnections == true
    }

    /// Whether it can come to what this host requires, whatever the peer has, if this host begins.
    ///
    /// What cannot is not begun: some devices forget the bond that they have as soon as a pairing is asked for. A
    /// peripheral begins with a Security Request, which the central may answer by encrypting with the bond.
    var canSucceed: Bool {
        if configuration.canProtect { return true }
        return switch role {
        case .central: protection != .required
        case .peripheral: !needsMITM || existing?.isAuthenticated == true
        }
    }

    /// What this host says it wants of pairing.
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

    /// Whether this host says that it can do LE Secure Connections to a peer that does know a temporary key, or does
    /// not: who has such a key wants to pair as it says, which LE Secure Connections would not.
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
        features.initiatorKeys = given(configuration.initiatorKeys)
        features.responderKeys = configuration.responderKeys.intersection(Self.possibleKeys)
        return features
    }

    /// The Pairing Response to a request.
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
        features.responderKeys = request.responderKeys.intersection(given(configuration.responderKeys))
        if isSecureConnections {
            features.initiatorKeys.remove(.encryption)
            features.responderKeys.remove(.encryption)
        }
        return features
    }

    /// Why this host does not go on with what the two devices have said; `nil` if it does.
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

    /// What the user must be asked before this host goes on; `nil` if that is nothing.
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

    /// Which of these keys this host has.
    private func given(_ keys: SMP.KeyDistribution) -> SMP.KeyDistribution {
        var keys = keys.intersection(Self.possibleKeys)
        if identity.resolvingKey == nil { keys.remove(.identity) }
        if identity.signingKey == nil { keys.remove(.signing) }
        return keys
    }
}
