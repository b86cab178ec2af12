extension ATTPacket {
    /// The opcode of this packet.
    package var opcode: ATT.Opcode {
        switch self {
        case .errorResponse: .errorResponse
        case .exchangeMTURequest: .exchangeMTURequest
        case .exchangeMTUResponse: .exchangeMTUResponse
        case .findInformationRequest: .findInformationRequest
        case .findInformationResponse: .findInformationResponse
        case .findByTypeValueRequest: .findByTypeValueRequest
        case .findByTypeValueResponse: .findByTypeValueResponse
        case .readByTypeRequest: .readByTypeRequest
        case .readByTypeResponse: .readByTypeResponse
        case .readRequest: .readRequest
        case .readResponse: .readResponse
        case .readBlobRequest: .readBlobRequest
        case .readBlobResponse: .readBlobResponse
        case .readMultipleRequest: .readMultipleRequest
        case .readMultipleResponse: .readMultipleResponse
        case .readByGroupTypeRequest: .readByGroupTypeRequest
        case .readByGroupTypeResponse: .readByGroupTypeResponse
        case .writeRequest: .writeRequest
        case .writeResponse: .writeResponse
        case .prepareWriteRequest: .prepareWriteRequest
        case .prepareWriteResponse: .prepareWriteResponse
        case .executeWriteRequest: .executeWriteRequest
        case .executeWriteResponse: .executeWriteResponse
        case .notification: .handleValueNotification
        case .indication: .handleValueIndication
        case .confirmation: .handleValueConfirmation
        case .readMultipleVariableRequest: .readMultipleVariableRequest
        case .readMultipleVariableResponse: .readMultipleVariableResponse
        case .multipleNotification: .multipleHandleValueNotification
        case .writeCommand: .writeCommand
        case .signedWriteCommand: .signedWriteCommand
        }
    }

    /// Appends the encoded packet to `encoder`.
    package func encode(into encoder: inout PacketEncoder) {
        do { try walk(&encoder) } catch { preconditionFailure("cannot encode \(self): \(error)") }
    }

    /// The octets of the packet, starting with the opcode.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        encode(into: &encoder)
        return encoder.bytes
    }

    /// The fields of this packet, starting with the opcode.
    package var dissection: DissectedLayer {
        var dissector = PacketDissector()
        do { try walk(&dissector) } catch { preconditionFailure("cannot dissect \(self): \(error)") }
        return DissectedLayer(name: "ATT \(opcode)", fields: dissector.fields)
    }

    private func walk(_ wire: inout some AnyWire) throws(PacketError) {
        var opcode = opcode
        try wire.field(&opcode, "Attribute Opcode")
        switch self {
        case .errorResponse(var packet): try packet.layout(&wire)
        case .exchangeMTURequest(var packet): try packet.layout(&wire)
        case .exchangeMTUResponse(var packet): try packet.layout(&wire)
        case .findInformationRequest(var packet): try packet.layout(&wire)
        case .findInformationResponse(var packet): try packet.layout(&wire)
        case .findByTypeValueRequest(var packet): try packet.layout(&wire)
        case .findByTypeValueResponse(var packet): try packet.layout(&wire)
        case .readByTypeRequest(var packet): try packet.layout(&wire)
        case .readByTypeResponse(var packet): try packet.layout(&wire)
        case .readRequest(var packet): try packet.layout(&wire)
        case .readResponse(var packet): try packet.layout(&wire)
        case .readBlobRequest(var packet): try packet.layout(&wire)
        case .readBlobResponse(var packet): try packet.layout(&wire)
        case .readMultipleRequest(var packet): try packet.layout(&wire)
        case .readMultipleResponse(var packet): try packet.layout(&wire)
        case .readByGroupTypeRequest(var packet): try packet.layout(&wire)
        case .readByGroupTypeResponse(var packet): try packet.layout(&wire)
        case .writeRequest(var packet): try packet.layout(&wire)
        case .prepareWriteRequest(var packet): try packet.layout(&wire)
        case .prepareWriteResponse(var packet): try packet.layout(&wire)
        case .executeWriteRequest(var packet): try packet.layout(&wire)
        case .notification(var packet): try packet.layout(&wire)
        case .indication(var packet): try packet.layout(&wire)
        case .readMultipleVariableRequest(var packet): try packet.layout(&wire)
        case .readMultipleVariableResponse(var packet): try packet.layout(&wire)
        case .multipleNotification(var packet): try packet.layout(&wire)
        case .writeCommand(var packet): try packet.layout(&wire)
        case .signedWriteCommand(var packet): try packet.layout(&wire)
        case .writeResponse, .executeWriteResponse, .confirmation: break
        }
    }
}
