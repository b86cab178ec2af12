extension ATT {
    /// An ATT opcode, the first octet of every ATT packet.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.1 and 3.4.8.
    @usableFromInline package struct Opcode: WireField, Hashable {
        @usableFromInline package let wire: UInt8
        @inlinable package init(wire: UInt8) { self.wire = wire }

        // Written here because other modules could not inline the comparison that the compiler generates.
        @inlinable @inline(__always)
        package static func == (a: Self, b: Self) -> Bool { a.wire == b.wire }

        package static let errorResponse = Self(wire: 0x01)
        package static let exchangeMTURequest = Self(wire: 0x02)
        package static let exchangeMTUResponse = Self(wire: 0x03)
        package static let findInformationRequest = Self(wire: 0x04)
        package static let findInformationResponse = Self(wire: 0x05)
        package static let findByTypeValueRequest = Self(wire: 0x06)
        package static let findByTypeValueResponse = Self(wire: 0x07)
        package static let readByTypeRequest = Self(wire: 0x08)
        package static let readByTypeResponse = Self(wire: 0x09)
        @inlinable package static var readRequest: Self { Self(wire: 0x0A) }
        @inlinable package static var readResponse: Self { Self(wire: 0x0B) }
        package static let readBlobRequest = Self(wire: 0x0C)
        package static let readBlobResponse = Self(wire: 0x0D)
        package static let readMultipleRequest = Self(wire: 0x0E)
        package static let readMultipleResponse = Self(wire: 0x0F)
        package static let readByGroupTypeRequest = Self(wire: 0x10)
        package static let readByGroupTypeResponse = Self(wire: 0x11)
        @inlinable package static var writeRequest: Self { Self(wire: 0x12) }
        @inlinable package static var writeResponse: Self { Self(wire: 0x13) }
        package static let prepareWriteRequest = Self(wire: 0x16)
        package static let prepareWriteResponse = Self(wire: 0x17)
        package static let executeWriteRequest = Self(wire: 0x18)
        package static let executeWriteResponse = Self(wire: 0x19)
        @inlinable package static var handleValueNotification: Self { Self(wire: 0x1B) }
        package static let handleValueIndication = Self(wire: 0x1D)
        package static let handleValueConfirmation = Self(wire: 0x1E)
        package static let readMultipleVariableRequest = Self(wire: 0x20)
        package static let readMultipleVariableResponse = Self(wire: 0x21)
        package static let multipleHandleValueNotification = Self(wire: 0x23)
        @inlinable package static var writeCommand: Self { Self(wire: 0x52) }
        package static let signedWriteCommand = Self(wire: 0xD2)

        /// True for commands, to which servers do not respond.
        ///
        /// A server ignores unknown commands.
        package var isCommand: Bool { wire & 0x40 != 0 }

        /// True if the last twelve octets of the packet are an authentication signature.
        package var isSigned: Bool { wire & 0x80 != 0 }

        /// True for the requests that discovery uses, which search a range of attributes.
        package var isSearch: Bool {
            switch self {
            case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest: true
            default: false
            }
        }

        /// The opcode of the successful response to this request; `nil` if this is not a request.
        package var response: Self? {
            switch self {
            case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest,
                .readRequest, .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest,
                .prepareWriteRequest, .executeWriteRequest, .readMultipleVariableRequest:
                Self(wire: wire + 1)
            default: nil
            }
        }
    }
}

extension ATT.Opcode: CustomStringConvertible {
    /// The name without the protocol, such as "Write Request".
    @usableFromInline package var description: String {
        switch self {
        case .errorResponse: "Error Response"
        case .exchangeMTURequest: "Exchange MTU Request"
        case .exchangeMTUResponse: "Exchange MTU Response"
        case .findInformationRequest: "Find Information Request"
        case .findInformationResponse: "Find Information Response"
        case .findByTypeValueRequest: "Find By Type Value Request"
        case .findByTypeValueResponse: "Find By Type Value Response"
        case .readByTypeRequest: "Read By Type Request"
        case .readByTypeResponse: "Read By Type Response"
        case .readRequest: "Read Request"
        case .readResponse: "Read Response"
        case .readBlobRequest: "Read Blob Request"
        case .readBlobResponse: "Read Blob Response"
        case .readMultipleRequest: "Read Multiple Request"
        case .readMultipleResponse: "Read Multiple Response"
        case .readByGroupTypeRequest: "Read By Group Type Request"
        case .readByGroupTypeResponse: "Read By Group Type Response"
        case .writeRequest: "Write Request"
        case .writeResponse: "Write Response"
        case .prepareWriteRequest: "Prepare Write Request"
        case .prepareWriteResponse: "Prepare Write Response"
        case .executeWriteRequest: "Execute Write Request"
        case .executeWriteResponse: "Execute Write Response"
        case .handleValueNotification: "Handle Value Notification"
        case .handleValueIndication: "Handle Value Indication"
        case .handleValueConfirmation: "Handle Value Confirmation"
        case .readMultipleVariableRequest: "Read Multiple Variable Request"
        case .readMultipleVariableResponse: "Read Multiple Variable Response"
        case .multipleHandleValueNotification: "Multiple Handle Value Notification"
        case .writeCommand: "Write Command"
        case .signedWriteCommand: "Signed Write Command"
        default: "Opcode 0x" + [wire].hexadecimal
        }
    }
}
