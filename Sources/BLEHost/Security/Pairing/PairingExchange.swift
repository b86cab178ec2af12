import BLEWire

/// The features that two devices agree on.
struct PairingAgreement: Equatable, Sendable {
    let method: PairingMethod
    /// The size of the key, 7 to 16 octets.
    let keySize: Int
    let isSecureConnections: Bool
    /// True if both devices want to store the keys.
    let isBonding: Bool
    /// The keys that the central distributes after encryption.
    let initiatorKeys: SMP.KeyDistribution
    /// The keys that the peripheral distributes after encryption.
    let responderKeys: SMP.KeyDistribution

    init(request: SMP.PairingFeatures, response: SMP.PairingFeatures) {
        isSecureConnections = request.authentication.intersection(response.authentication).contains(.secureConnections)
        isBonding = request.authentication.isBonding && response.authentication.isBonding
        keySize = Int(min(request.greatestKeySize, response.greatestKeySize))
        method = Self.method(request, response, isSecureConnections)
        var given: SMP.KeyDistribution = [.encryption, .identity, .signing]
        if isSecureConnections { given.remove(.encryption) }
        initiatorKeys = request.initiatorKeys.intersection(response.initiatorKeys).intersection(given)
        responderKeys = request.responderKeys.intersection(response.responderKeys).intersection(given)
    }

    var strength: PairingStrength {
        PairingStrength(
            keySize: keySize,
            isAuthenticated: method.isAuthenticated,
            isSecureConnections: isSecureConnections
        )
    }

    /// Returns the method that the exchanged features lead to.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.5.1, tables 2.6 and 2.7.
    private static func method(
        _ request: SMP.PairingFeatures,
        _ response: SMP.PairingFeatures,
        _ isSecureConnections: Bool
    ) -> PairingMethod {
        let flags = [request.outOfBand, response.outOfBand]
        if isSecureConnections ? flags.contains(.present) : !flags.contains(.notPresent) { return .outOfBand }
        guard request.authentication.union(response.authentication).contains(.mitm) else { return .justWorks }
        return .method(
            initiator: request.ioCapability,
            responder: response.ioCapability,
            isSecureConnections: isSecureConnections
        )
    }

    /// Returns a key shortened to the agreed size.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.4.
    func shortened(_ key: Key128) -> Key128 { Key128(wire: key.wire & (UInt128.max >> (128 - 8 * keySize))) }
}

/// The inputs of pairing's cryptographic functions: the addresses of both devices, and the packets that they have
/// exchanged.
struct PairingExchange: Equatable, Sendable {
    let role: LinkRole
    let initiator: DeviceAddress
    let responder: DeviceAddress
    /// The seven octets of the Pairing Request.
    let request: [UInt8]
    /// The seven octets of the Pairing Response.
    let response: [UInt8]
    let agreement: PairingAgreement

    init(
        _ role: LinkRole,
        local: DeviceAddress,
        peer: DeviceAddress,
        request: SMP.PairingFeatures,
        response: SMP.PairingFeatures
    ) {
        self.role = role
        (initiator, responder) = role == .central ? (local, peer) : (peer, local)
        self.request = SMPPacket.pairingRequest(request).encoded
        self.response = SMPPacket.pairingResponse(response).encoded
        agreement = PairingAgreement(request: request, response: response)
    }

    /// Returns the IO capability, OOB flag and AuthReq that the device with this role sent.
    func capabilities(of role: LinkRole) -> [UInt8] { Array((role == .central ? request : response)[1...3]) }

    /// True if the peer has this host's out-of-band data.
    var peerHasData: Bool { capabilities(of: role == .central ? .peripheral : .central)[1] != 0 }
    /// True if this host has the peer's out-of-band data.
    var hasPeerData: Bool { capabilities(of: role)[1] != 0 }

    /// Returns whether this host displays the passkey for this kind of entry.
    func displays(_ entry: PairingMethod.PasskeyEntry) -> Bool {
        switch entry {
        case .initiatorDisplays: role == .central
        case .responderDisplays: role == .peripheral
        case .bothInput: false
        }
    }
}

/// A random number generator of any type, for the keys and other random numbers of a pairing.
package typealias RandomSource = any RandomNumberGenerator & Sendable

/// An action that a phase of a pairing returns.
///
/// ``fail(_:)`` and ``agreed(_:)`` end the phase.
enum PairingAction: Equatable {
    case send(SMPPacket)
    case ask(PairingQuestion)
    /// Pairing has failed; send this reason to the peer.
    case fail(SMP.Reason)
    /// The authentication phase is complete, and the devices have agreed on this key of 16 octets.
    case agreed(Key128)
}

extension Key128 {
    /// Returns a random key or number of 128 bits.
    static func random(using random: inout RandomSource) -> Self {
        let low = random.next(), high = random.next()
        return Self(wire: UInt128(high) << 64 | UInt128(low))
    }
}
