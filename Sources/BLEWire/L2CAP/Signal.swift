/// The contents of a signalling packet on an LE link; they concern the link or its channels.
///
/// Core 6.0, Vol 3, Part A, 4.
package enum Signal: Equatable, Sendable {
    case commandReject(CommandReject)
    case disconnectionRequest(DisconnectionRequest)
    case disconnectionResponse(DisconnectionResponse)
    case connectionParameterUpdateRequest(ConnectionParameterUpdateRequest)
    case connectionParameterUpdateResponse(ConnectionParameterUpdateResponse)
    case leCreditBasedConnectionRequest(LECreditBasedConnectionRequest)
    case leCreditBasedConnectionResponse(LECreditBasedConnectionResponse)
    case flowControlCredit(FlowControlCredit)
    case creditBasedConnectionRequest(CreditBasedConnectionRequest)
    case creditBasedConnectionResponse(CreditBasedConnectionResponse)
    case creditBasedReconfigureRequest(CreditBasedReconfigureRequest)
    case creditBasedReconfigureResponse(CreditBasedReconfigureResponse)
    /// A packet with a code that LE does not define; the response to it is ``CommandReject/notUnderstood``.
    case unknown(code: Code, data: [UInt8])

    /// The code in the first octet of every signalling packet.
    ///
    /// Core 6.0, Vol 3, Part A, 4, table 4.2.
    package struct Code: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let commandReject = Self(wire: 0x01)
        package static let disconnectionRequest = Self(wire: 0x06)
        package static let disconnectionResponse = Self(wire: 0x07)
        package static let connectionParameterUpdateRequest = Self(wire: 0x12)
        package static let connectionParameterUpdateResponse = Self(wire: 0x13)
        package static let leCreditBasedConnectionRequest = Self(wire: 0x14)
        package static let leCreditBasedConnectionResponse = Self(wire: 0x15)
        package static let flowControlCredit = Self(wire: 0x16)
        package static let creditBasedConnectionRequest = Self(wire: 0x17)
        package static let creditBasedConnectionResponse = Self(wire: 0x18)
        package static let creditBasedReconfigureRequest = Self(wire: 0x19)
        package static let creditBasedReconfigureResponse = Self(wire: 0x1A)
    }

    package var code: Code {
        switch self {
        case .commandReject: .commandReject
        case .disconnectionRequest: .disconnectionRequest
        case .disconnectionResponse: .disconnectionResponse
        case .connectionParameterUpdateRequest: .connectionParameterUpdateRequest
        case .connectionParameterUpdateResponse: .connectionParameterUpdateResponse
        case .leCreditBasedConnectionRequest: .leCreditBasedConnectionRequest
        case .leCreditBasedConnectionResponse: .leCreditBasedConnectionResponse
        case .flowControlCredit: .flowControlCredit
        case .creditBasedConnectionRequest: .creditBasedConnectionRequest
        case .creditBasedConnectionResponse: .creditBasedConnectionResponse
        case .creditBasedReconfigureRequest: .creditBasedReconfigureRequest
        case .creditBasedReconfigureResponse: .creditBasedReconfigureResponse
        case .unknown(let code, _): code
        }
    }

    /// Decodes the data after the header of a signalling packet; `code` is the code in the header.
    init(_ code: Code, data: Span<UInt8>) throws(PacketError) {
        switch code {
        case .commandReject: self = .commandReject(try .init(decoding: data))
        case .disconnectionRequest: self = .disconnectionRequest(try .init(decoding: data))
        case .disconnectionResponse: self = .disconnectionResponse(try .init(decoding: data))
        case .connectionParameterUpdateRequest:
            self = .connectionParameterUpdateRequest(try .init(decoding: data))
        case .connectionParameterUpdateResponse:
            self = .connectionParameterUpdateResponse(try .init(decoding: data))
        case .leCreditBasedConnectionRequest: self = .leCreditBasedConnectionRequest(try .init(decoding: data))
        case .leCreditBasedConnectionResponse: self = .leCreditBasedConnectionResponse(try .init(decoding: data))
        case .flowControlCredit: self = .flowControlCredit(try .init(decoding: data))
        case .creditBasedConnectionRequest: self = .creditBasedConnectionRequest(try .init(decoding: data))
        case .creditBasedConnectionResponse: self = .creditBasedConnectionResponse(try .init(decoding: data))
        case .creditBasedReconfigureRequest: self = .creditBasedReconfigureRequest(try .init(decoding: data))
        case .creditBasedReconfigureResponse: self = .creditBasedReconfigureResponse(try .init(decoding: data))
        default: self = .unknown(code: code, data: [UInt8](copying: data))
        }
    }

    /// Visits the data after the header of a signalling packet.
    func walk(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .commandReject(var packet): try packet.layout(&wire)
        case .disconnectionRequest(var packet): try packet.layout(&wire)
        case .disconnectionResponse(var packet): try packet.layout(&wire)
        case .connectionParameterUpdateRequest(var packet): try packet.layout(&wire)
        case .connectionParameterUpdateResponse(var packet): try packet.layout(&wire)
        case .leCreditBasedConnectionRequest(var packet): try packet.layout(&wire)
        case .leCreditBasedConnectionResponse(var packet): try packet.layout(&wire)
        case .flowControlCredit(var packet): try packet.layout(&wire)
        case .creditBasedConnectionRequest(var packet): try packet.layout(&wire)
        case .creditBasedConnectionResponse(var packet): try packet.layout(&wire)
        case .creditBasedReconfigureRequest(var packet): try packet.layout(&wire)
        case .creditBasedReconfigureResponse(var packet): try packet.layout(&wire)
        case .unknown(_, var data): try wire.rest(&data, "Data")
        }
    }
}

extension Signal.Code: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandReject: "Command Reject"
        case .disconnectionRequest: "Disconnection Request"
        case .disconnectionResponse: "Disconnection Response"
        case .connectionParameterUpdateRequest: "Connection Parameter Update Request"
        case .connectionParameterUpdateResponse: "Connection Parameter Update Response"
        case .leCreditBasedConnectionRequest: "LE Credit Based Connection Request"
        case .leCreditBasedConnectionResponse: "LE Credit Based Connection Response"
        case .flowControlCredit: "Flow Control Credit"
        case .creditBasedConnectionRequest: "Credit Based Connection Request"
        case .creditBasedConnectionResponse: "Credit Based Connection Response"
        case .creditBasedReconfigureRequest: "Credit Based Reconfigure Request"
        case .creditBasedReconfigureResponse: "Credit Based Reconfigure Response"
        default: "Code 0x" + [wire].hexadecimal
        }
    }
}
