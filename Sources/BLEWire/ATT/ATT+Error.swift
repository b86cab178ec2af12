extension ATT {
    /// An ATT error code: the reason why a server refused a request.
    ///
    /// | codes | meaning |
    /// | --- | --- |
    /// | 0x01 to 0x7F | defined by ATT |
    /// | 0x80 to 0x9F | defined by the profile that the attribute belongs to |
    /// | 0xE0 to 0xFF | shared by all profiles: Core Specification Supplement 11, Part B |
    ///
    /// Unknown codes are kept, because an app may know them.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.1.1.
    package struct ErrorCode: WireField, Error, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let invalidHandle = Self(wire: 0x01)
        package static let readNotPermitted = Self(wire: 0x02)
        package static let writeNotPermitted = Self(wire: 0x03)
        package static let invalidPDU = Self(wire: 0x04)
        package static let insufficientAuthentication = Self(wire: 0x05)
        package static let requestNotSupported = Self(wire: 0x06)
        package static let invalidOffset = Self(wire: 0x07)
        package static let insufficientAuthorization = Self(wire: 0x08)
        package static let prepareQueueFull = Self(wire: 0x09)
        package static let attributeNotFound = Self(wire: 0x0A)
        package static let attributeNotLong = Self(wire: 0x0B)
        package static let encryptionKeySizeTooShort = Self(wire: 0x0C)
        package static let invalidAttributeValueLength = Self(wire: 0x0D)
        package static let unlikelyError = Self(wire: 0x0E)
        package static let insufficientEncryption = Self(wire: 0x0F)
        package static let unsupportedGroupType = Self(wire: 0x10)
        package static let insufficientResources = Self(wire: 0x11)
        package static let databaseOutOfSync = Self(wire: 0x12)
        package static let valueNotAllowed = Self(wire: 0x13)

        package static let writeRequestRejected = Self(wire: 0xFC)
        package static let configurationDescriptorImproperlyConfigured = Self(wire: 0xFD)
        package static let procedureAlreadyInProgress = Self(wire: 0xFE)
        package static let outOfRange = Self(wire: 0xFF)

        /// True if the profile that the attribute belongs to defines the meaning of the code.
        package var isApplication: Bool { 0x80...0x9F ~= wire }

        /// True if the code has the same meaning in every profile.
        package var isCommonProfile: Bool { wire >= 0xE0 }
    }

    /// The response to a request that the server could not fulfil.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.1.1.
    package struct ErrorResponse: Packet {
        /// The opcode of the failed request.
        package var request: Opcode
        /// The attribute that caused the error; ``AttributeHandle/none`` if none did.
        package var handle: AttributeHandle
        package var code: ErrorCode

        package init() { self.init(request: Opcode(wire: 0), handle: .none, code: ErrorCode(wire: 0)) }
        package init(request: Opcode, handle: AttributeHandle, code: ErrorCode) {
            self.request = request
            self.handle = handle
            self.code = code
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&request, "Request Opcode In Error")
            try wire.field(&handle, "Attribute Handle In Error")
            try wire.field(&code, "Error Code")
        }
    }
}

extension ATT.ErrorCode {
    /// True if a server refuses requests with this code because the link or the client lacks security.
    package var isLackOfSecurity: Bool {
        [.insufficientAuthentication, .insufficientEncryption, .insufficientAuthorization, .encryptionKeySizeTooShort]
            .contains(self)
    }
}

extension ATT.ErrorCode: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidHandle: "Invalid Handle"
        case .readNotPermitted: "Read Not Permitted"
        case .writeNotPermitted: "Write Not Permitted"
        case .invalidPDU: "Invalid PDU"
        case .insufficientAuthentication: "Insufficient Authentication"
        case .requestNotSupported: "Request Not Supported"
        case .invalidOffset: "Invalid Offset"
        case .insufficientAuthorization: "Insufficient Authorization"
        case .prepareQueueFull: "Prepare Queue Full"
        case .attributeNotFound: "Attribute Not Found"
        case .attributeNotLong: "Attribute Not Long"
        case .encryptionKeySizeTooShort: "Encryption Key Size Too Short"
        case .invalidAttributeValueLength: "Invalid Attribute Value Length"
        case .unlikelyError: "Unlikely Error"
        case .insufficientEncryption: "Insufficient Encryption"
        case .unsupportedGroupType: "Unsupported Group Type"
        case .insufficientResources: "Insufficient Resources"
        case .databaseOutOfSync: "Database Out Of Sync"
        case .valueNotAllowed: "Value Not Allowed"
        case .writeRequestRejected: "Write Request Rejected"
        case .configurationDescriptorImproperlyConfigured: "CCC Descriptor Improperly Configured"
        case .procedureAlreadyInProgress: "Procedure Already in Progress"
        case .outOfRange: "Out of Range"
        default:
            (isApplication ? "Application Error 0x" : isCommonProfile ? "Common Profile Error 0x" : "Error 0x")
                + [wire].hexadecimal
        }
    }
}
