/// Any ATT packet: an opcode and its parameters.
///
/// Core 6.0, Vol 3, Part F, 3.3.1.
package enum ATTPacket: Equatable, Sendable {
    case errorResponse(ATT.ErrorResponse)
    case exchangeMTURequest(ATT.ExchangeMTURequest)
    case exchangeMTUResponse(ATT.ExchangeMTUResponse)
    case findInformationRequest(ATT.FindInformationRequest)
    case findInformationResponse(ATT.FindInformationResponse)
    case findByTypeValueRequest(ATT.FindByTypeValueRequest)
    case findByTypeValueResponse(ATT.FindByTypeValueResponse)
    case readByTypeRequest(ATT.ReadByTypeRequest)
    case readByTypeResponse(ATT.ReadByTypeResponse)
    case readRequest(ATT.ReadRequest)
    case readResponse(ATT.ReadResponse)
    case readBlobRequest(ATT.ReadBlobRequest)
    case readBlobResponse(ATT.ReadBlobResponse)
    case readMultipleRequest(ATT.ReadMultipleRequest)
    case readMultipleResponse(ATT.ReadMultipleResponse)
    case readByGroupTypeRequest(ATT.ReadByGroupTypeRequest)
    case readByGroupTypeResponse(ATT.ReadByGroupTypeResponse)
    case writeRequest(ATT.WriteRequest)
    case writeResponse
    case prepareWriteRequest(ATT.PrepareWriteRequest)
    case prepareWriteResponse(ATT.PrepareWriteResponse)
    case executeWriteRequest(ATT.ExecuteWriteRequest)
    case executeWriteResponse
    case notification(ATT.HandleValueNotification)
    case indication(ATT.HandleValueIndication)
    case confirmation
    case readMultipleVariableRequest(ATT.ReadMultipleVariableRequest)
    case readMultipleVariableResponse(ATT.ReadMultipleVariableResponse)
    case multipleNotification(ATT.MultipleHandleValueNotification)
    case writeCommand(ATT.WriteCommand)
    case signedWriteCommand(ATT.SignedWriteCommand)

    /// Decodes a packet that fills `bytes` exactly.
    ///
    /// - Throws: ``PacketError/unknown(code:)`` if the opcode is undefined. A server responds to such a packet with
    ///   "request not supported", unless it is a command. If the opcode is known and the parameters are malformed, the
    ///   error from decoding the parameters. A server responds to such a request with "invalid PDU".
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        var opcode = ATT.Opcode(wire: 0)
        try decoder.field(&opcode, "Attribute Opcode")
        self = try Self.decode(opcode, parameters: decoder.unread)
    }

    /// Decodes a packet that fills `bytes` exactly.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    private static func decode(
        _ opcode: ATT.Opcode,
        parameters: Span<UInt8>
    ) throws(PacketError) -> ATTPacket {
        switch opcode {
        case .errorResponse: return .errorResponse(try .init(decoding: parameters))
        case .exchangeMTURequest: return .exchangeMTURequest(try .init(decoding: parameters))
        case .exchangeMTUResponse: return .exchangeMTUResponse(try .init(decoding: parameters))
        case .findInformationRequest: return .findInformationRequest(try .init(decoding: parameters))
        case .findInformationResponse: return .findInformationResponse(try .init(decoding: parameters))
        case .findByTypeValueRequest: return .findByTypeValueRequest(try .init(decoding: parameters))
        case .findByTypeValueResponse: return .findByTypeValueResponse(try .init(decoding: parameters))
        case .readByTypeRequest: return .readByTypeRequest(try .init(decoding: parameters))
        case .readByTypeResponse: return .readByTypeResponse(try .init(decoding: parameters))
        case .readRequest: return .readRequest(try .init(decoding: parameters))
        case .readResponse: return .readResponse(try .init(decoding: parameters))
        case .readBlobRequest: return .readBlobRequest(try .init(decoding: parameters))
        case .readBlobResponse: return .readBlobResponse(try .init(decoding: parameters))
        case .readMultipleRequest: return .readMultipleRequest(try .init(decoding: parameters))
        case .readMultipleResponse: return .readMultipleResponse(try .init(decoding: parameters))
        case .readByGroupTypeRequest: return .readByGroupTypeRequest(try .init(decoding: parameters))
        case .readByGroupTypeResponse: return .readByGroupTypeResponse(try .init(decoding: parameters))
        case .writeRequest: return .writeRequest(try .init(decoding: parameters))
        case .writeResponse:
            _ = try ATT.WriteResponse(decoding: parameters)
            return .writeResponse
        case .prepareWriteRequest: return .prepareWriteRequest(try .init(decoding: parameters))
        case .prepareWriteResponse: return .prepareWriteResponse(try .init(decoding: parameters))
        case .executeWriteRequest: return .executeWriteRequest(try .init(decoding: parameters))
        case .executeWriteResponse:
            _ = try ATT.ExecuteWriteResponse(decoding: parameters)
            return .executeWriteResponse
        case .handleValueNotification: return .notification(try .init(decoding: parameters))
        case .handleValueIndication: return .indication(try .init(decoding: parameters))
        case .handleValueConfirmation:
            _ = try ATT.HandleValueConfirmation(decoding: parameters)
            return .confirmation
        case .readMultipleVariableRequest: return .readMultipleVariableRequest(try .init(decoding: parameters))
        case .readMultipleVariableResponse: return .readMultipleVariableResponse(try .init(decoding: parameters))
        case .multipleHandleValueNotification: return .multipleNotification(try .init(decoding: parameters))
        case .writeCommand: return .writeCommand(try .init(decoding: parameters))
        case .signedWriteCommand: return .signedWriteCommand(try .init(decoding: parameters))
        default: throw .unknown(code: UInt16(opcode.wire))
        }
    }
}
