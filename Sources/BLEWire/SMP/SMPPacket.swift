/// Any SMP packet: a code and its parameters.
///
/// Core 6.0, Vol 3, Part H, 3.3.
package enum SMPPacket: Equatable, Sendable {
    case pairingRequest(SMP.PairingFeatures)
    case pairingResponse(SMP.PairingFeatures)
    case pairingConfirm(SMP.PairingConfirm)
    case pairingRandom(SMP.PairingRandom)
    case pairingFailed(SMP.PairingFailed)
    case encryptionInformation(SMP.EncryptionInformation)
    case centralIdentification(SMP.CentralIdentification)
    case identityInformation(SMP.IdentityInformation)
    case identityAddressInformation(SMP.IdentityAddressInformation)
    case signingInformation(SMP.SigningInformation)
    case securityRequest(SMP.SecurityRequest)
    case pairingPublicKey(SMP.PairingPublicKey)
    case pairingDHKeyCheck(SMP.PairingDHKeyCheck)
    case pairingKeypressNotification(SMP.PairingKeypressNotification)

    /// Decodes a packet that fills `bytes` exactly.
    ///
    /// - Throws: ``PacketError/unknown(code:)`` if the code is undefined; the host ignores the packet. If the code is
    ///   known and the parameters are malformed, the error from decoding the parameters; the host then responds with
    ///   Invalid Parameters if a pairing is under way or the packet is a Pairing Request or Security Request.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        var opcode = SMP.Opcode(wire: 0)
        try decoder.field(&opcode, "Code")
        self = try Self.decode(opcode, data: decoder.unread)
    }

    /// Decodes a packet that fills `bytes` exactly.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    private static func decode(_ opcode: SMP.Opcode, data: Span<UInt8>) throws(PacketError) -> SMPPacket {
        switch opcode {
        case .pairingRequest: return .pairingRequest(try .init(decoding: data))
        case .pairingResponse: return .pairingResponse(try .init(decoding: data))
        case .pairingConfirm: return .pairingConfirm(try .init(decoding: data))
        case .pairingRandom: return .pairingRandom(try .init(decoding: data))
        case .pairingFailed: return .pairingFailed(try .init(decoding: data))
        case .encryptionInformation: return .encryptionInformation(try .init(decoding: data))
        case .centralIdentification: return .centralIdentification(try .init(decoding: data))
        case .identityInformation: return .identityInformation(try .init(decoding: data))
        case .identityAddressInformation: return .identityAddressInformation(try .init(decoding: data))
        case .signingInformation: return .signingInformation(try .init(decoding: data))
        case .securityRequest: return .securityRequest(try .init(decoding: data))
        case .pairingPublicKey: return .pairingPublicKey(try .init(decoding: data))
        case .pairingDHKeyCheck: return .pairingDHKeyCheck(try .init(decoding: data))
        case .pairingKeypressNotification: return .pairingKeypressNotification(try .init(decoding: data))
        default: throw .unknown(code: UInt16(opcode.wire))
        }
    }

    /// The code of this packet.
    package var opcode: SMP.Opcode {
        switch self {
        case .pairingRequest: .pairingRequest
        case .pairingResponse: .pairingResponse
        case .pairingConfirm: .pairingConfirm
        case .pairingRandom: .pairingRandom
        case .pairingFailed: .pairingFailed
        case .encryptionInformation: .encryptionInformation
        case .centralIdentification: .centralIdentification
        case .identityInformation: .identityInformation
        case .identityAddressInformation: .identityAddressInformation
        case .signingInformation: .signingInformation
        case .securityRequest: .securityRequest
        case .pairingPublicKey: .pairingPublicKey
        case .pairingDHKeyCheck: .pairingDHKeyCheck
        case .pairingKeypressNotification: .pairingKeypressNotification
        }
    }

    /// The encoded packet.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        do { try walk(&encoder) } catch { preconditionFailure("cannot encode \(self): \(error)") }
        return encoder.bytes
    }

    /// The fields of this packet, starting with the code.
    package var dissection: DissectedLayer {
        var dissector = PacketDissector()
        do { try walk(&dissector) } catch { preconditionFailure("cannot dissect \(self): \(error)") }
        return DissectedLayer(name: "SMP \(opcode)", fields: dissector.fields)
    }

    private func walk(_ wire: inout some AnyWire) throws(PacketError) {
        var opcode = opcode
        try wire.field(&opcode, "Code")
        switch self {
        case .pairingRequest(var packet): try packet.layout(&wire)
        case .pairingResponse(var packet): try packet.layout(&wire)
        case .pairingConfirm(var packet): try packet.layout(&wire)
        case .pairingRandom(var packet): try packet.layout(&wire)
        case .pairingFailed(var packet): try packet.layout(&wire)
        case .encryptionInformation(var packet): try packet.layout(&wire)
        case .centralIdentification(var packet): try packet.layout(&wire)
        case .identityInformation(var packet): try packet.layout(&wire)
        case .identityAddressInformation(var packet): try packet.layout(&wire)
        case .signingInformation(var packet): try packet.layout(&wire)
        case .securityRequest(var packet): try packet.layout(&wire)
        case .pairingPublicKey(var packet): try packet.layout(&wire)
        case .pairingDHKeyCheck(var packet): try packet.layout(&wire)
        case .pairingKeypressNotification(var packet): try packet.layout(&wire)
        }
    }
}
