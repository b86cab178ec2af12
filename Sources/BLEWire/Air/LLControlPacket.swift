/// A link layer control packet.
///
/// Core 6.0, Vol 6, Part B, 2.4.2.
package enum LLControlPacket: Equatable, Sendable {
    case connectionUpdate(LL.ConnectionUpdate)
    case channelMap(LL.ChannelMapIndication)
    /// LL_TERMINATE_IND, with the reason as an HCI status code.
    case terminate(reason: UInt8)
    indirect case encryptionRequest(LL.EncryptionRequest)
    case encryptionResponse(LL.EncryptionResponse)
    case startEncryptionRequest
    case startEncryptionResponse
    /// LL_UNKNOWN_RSP, with the opcode that the sender of this response does not support.
    case unknownResponse(LL.ControlOpcode)
    /// LL_FEATURE_REQ, with the features of the central, one bit each.
    case featureRequest(UInt64)
    case featureResponse(UInt64)
    /// LL_PERIPHERAL_FEATURE_REQ, with the features of the peripheral, one bit each.
    case peripheralFeatureRequest(UInt64)
    case pauseEncryptionRequest
    case pauseEncryptionResponse
    case version(LL.VersionIndication)
    /// LL_REJECT_IND, with the reason as an HCI status code.
    case reject(reason: UInt8)
    case rejectExtended(LL.Rejection)
    case parameterRequest(LL.ConnectionParameters)
    case parameterResponse(LL.ConnectionParameters)
    case pingRequest
    case pingResponse
    case lengthRequest(LL.Lengths)
    case lengthResponse(LL.Lengths)
    case phyRequest(LL.PHYPreference)
    case phyResponse(LL.PHYPreference)
    case phyUpdate(LL.PHYUpdate)
    /// Any other PDU, with the octets after its opcode.
    case other(LL.ControlOpcode, [UInt8])

    /// The opcode of this PDU.
    package var opcode: LL.ControlOpcode {
        switch self {
        case .connectionUpdate: .connectionUpdate
        case .channelMap: .channelMap
        case .terminate: .terminate
        case .encryptionRequest: .encryptionRequest
        case .encryptionResponse: .encryptionResponse
        case .startEncryptionRequest: .startEncryptionRequest
        case .startEncryptionResponse: .startEncryptionResponse
        case .unknownResponse: .unknownResponse
        case .featureRequest: .featureRequest
        case .featureResponse: .featureResponse
        case .peripheralFeatureRequest: .peripheralFeatureRequest
        case .pauseEncryptionRequest: .pauseEncryptionRequest
        case .pauseEncryptionResponse: .pauseEncryptionResponse
        case .version: .version
        case .reject: .reject
        case .rejectExtended: .rejectExtended
        case .parameterRequest: .parameterRequest
        case .parameterResponse: .parameterResponse
        case .pingRequest: .pingRequest
        case .pingResponse: .pingResponse
        case .lengthRequest: .lengthRequest
        case .lengthResponse: .lengthResponse
        case .phyRequest: .phyRequest
        case .phyResponse: .phyResponse
        case .phyUpdate: .phyUpdate
        case .other(let opcode, _): opcode
        }
    }

    /// The number of octets on the air, including the opcode.
    package var length: Int {
        switch self {
        case .connectionUpdate: 12
        case .channelMap: 8
        case .terminate, .unknownResponse, .reject: 2
        case .encryptionRequest: 23
        case .encryptionResponse: 13
        case .featureRequest, .featureResponse, .peripheralFeatureRequest, .lengthRequest, .lengthResponse: 9
        case .version: 6
        case .rejectExtended, .phyRequest, .phyResponse: 3
        case .parameterRequest, .parameterResponse: 24
        case .startEncryptionRequest, .startEncryptionResponse, .pauseEncryptionRequest, .pauseEncryptionResponse,
            .pingRequest, .pingResponse:
            1
        case .phyUpdate: 5
        case .other(_, let octets): 1 + octets.count
        }
    }

    /// The encoded PDU, starting with its opcode.
    package var encoded: [UInt8] {
        let octets: [UInt8]
        switch self {
        case .connectionUpdate(let packet): octets = packet.encoded
        case .channelMap(let packet): octets = packet.encoded
        case .terminate(let reason), .reject(let reason): octets = [reason]
        case .encryptionRequest(let packet): octets = packet.encoded
        case .encryptionResponse(let packet): octets = packet.encoded
        case .unknownResponse(let opcode): octets = [opcode.wire]
        case .featureRequest(let features), .featureResponse(let features), .peripheralFeatureRequest(let features):
            octets = features.littleEndianOctets
        case .version(let packet): octets = packet.encoded
        case .rejectExtended(let packet): octets = packet.encoded
        case .parameterRequest(let packet), .parameterResponse(let packet): octets = packet.encoded
        case .startEncryptionRequest, .startEncryptionResponse, .pauseEncryptionRequest, .pauseEncryptionResponse,
            .pingRequest, .pingResponse:
            octets = []
        case .lengthRequest(let packet), .lengthResponse(let packet): octets = packet.encoded
        case .phyRequest(let packet), .phyResponse(let packet): octets = packet.encoded
        case .phyUpdate(let packet): octets = packet.encoded
        case .other(_, let rest): octets = rest
        }
        return [opcode.wire] + octets
    }

    /// Decodes a PDU, starting with its opcode.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        var opcode = LL.ControlOpcode(wire: 0)
        try decoder.field(&opcode, "Opcode")
        let payload = decoder.unread
        switch opcode {
        case .connectionUpdate: self = .connectionUpdate(try .init(decoding: payload))
        case .channelMap: self = .channelMap(try .init(decoding: payload))
        case .terminate: self = .terminate(reason: try Octet(decoding: payload).value)
        case .encryptionRequest: self = .encryptionRequest(try .init(decoding: payload))
        case .encryptionResponse: self = .encryptionResponse(try .init(decoding: payload))
        case .startEncryptionRequest: self = try Self.bare(.startEncryptionRequest, payload)
        case .startEncryptionResponse: self = try Self.bare(.startEncryptionResponse, payload)
        case .unknownResponse: self = .unknownResponse(.init(wire: try Octet(decoding: payload).value))
        case .featureRequest: self = .featureRequest(try FeatureSet(decoding: payload).value)
        case .featureResponse: self = .featureResponse(try FeatureSet(decoding: payload).value)
        case .peripheralFeatureRequest: self = .peripheralFeatureRequest(try FeatureSet(decoding: payload).value)
        case .pauseEncryptionRequest: self = try Self.bare(.pauseEncryptionRequest, payload)
        case .pauseEncryptionResponse: self = try Self.bare(.pauseEncryptionResponse, payload)
        case .version: self = .version(try .init(decoding: payload))
        case .reject: self = .reject(reason: try Octet(decoding: payload).value)
        case .rejectExtended: self = .rejectExtended(try .init(decoding: payload))
        case .parameterRequest: self = .parameterRequest(try .init(decoding: payload))
        case .parameterResponse: self = .parameterResponse(try .init(decoding: payload))
        case .pingRequest: self = try Self.bare(.pingRequest, payload)
        case .pingResponse: self = try Self.bare(.pingResponse, payload)
        case .lengthRequest: self = .lengthRequest(try .init(decoding: payload))
        case .lengthResponse: self = .lengthResponse(try .init(decoding: payload))
        case .phyRequest: self = .phyRequest(try .init(decoding: payload))
        case .phyResponse: self = .phyResponse(try .init(decoding: payload))
        case .phyUpdate: self = .phyUpdate(try .init(decoding: payload))
        default: self = .other(opcode, [UInt8](copying: payload))
        }
    }

    /// Decodes a PDU, starting with its opcode.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    /// Returns `packet`, which has no parameters; throws if `payload` is not empty.
    private static func bare(_ packet: Self, _ payload: Span<UInt8>) throws(PacketError) -> Self {
        guard payload.isEmpty else { throw .trailing(count: payload.count) }
        return packet
    }

    /// The payload of a PDU whose only parameter is one octet.
    private struct Octet: Packet {
        var value: UInt8 = 0
        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.integer(&value, "ErrorCode") }
    }

    /// The payload of a PDU whose only parameter is a feature set.
    private struct FeatureSet: Packet {
        var value: UInt64 = 0
        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.integer(&value, "FeatureSet") }
    }
}
