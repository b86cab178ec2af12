import Foundation

extension CBATTError {
    /// An ATT error code: the reason why a server refused a request.
    ///
    /// The attribute's profile defines the codes from 0x80 to 0x9F. The codes from 0xE0 mean the same in all profiles.
    ///
    /// A number without a name is kept, so ``init(rawValue:)`` never returns `nil`.
    public enum Code: RawRepresentable, BitwiseCopyable, Hashable, Sendable {
        /// No error.
        case success
        /// The attribute does not exist.
        case invalidHandle
        /// The attribute cannot be read.
        case readNotPermitted
        /// The attribute cannot be written.
        case writeNotPermitted
        /// The request or its response is malformed.
        case invalidPdu
        /// The link is not authenticated.
        case insufficientAuthentication
        /// The server does not support the request.
        case requestNotSupported
        /// The offset is past the end of the value.
        case invalidOffset
        /// The client is not authorized.
        case insufficientAuthorization
        /// The queue of prepared writes is full.
        case prepareQueueFull
        /// No attribute was found in the range.
        case attributeNotFound
        /// The attribute cannot be read in parts.
        case attributeNotLong
        /// The encryption key of the link is too short.
        case insufficientEncryptionKeySize
        /// The length of the value is invalid.
        case invalidAttributeValueLength
        /// The server could not carry out the request.
        case unlikelyError
        /// The link is not encrypted.
        case insufficientEncryption
        /// The attribute type does not group other attributes.
        case unsupportedGroupType
        /// The server has insufficient resources.
        case insufficientResources
        /// A code without a name.
        case __unrecognized(Int)

        /// Creates a code from its number; never returns `nil`.
        public init?(rawValue: Int) { self = Self.named[rawValue] ?? .__unrecognized(rawValue) }

        /// The numeric value of the error code.
        public var rawValue: Int {
            switch self {
            case .success: 0
            case .invalidHandle: 1
            case .readNotPermitted: 2
            case .writeNotPermitted: 3
            case .invalidPdu: 4
            case .insufficientAuthentication: 5
            case .requestNotSupported: 6
            case .invalidOffset: 7
            case .insufficientAuthorization: 8
            case .prepareQueueFull: 9
            case .attributeNotFound: 10
            case .attributeNotLong: 11
            case .insufficientEncryptionKeySize: 12
            case .invalidAttributeValueLength: 13
            case .unlikelyError: 14
            case .insufficientEncryption: 15
            case .unsupportedGroupType: 16
            case .insufficientResources: 17
            case .__unrecognized(let number): number
            }
        }

        private static let named: [Int: Self] = Dictionary(
            uniqueKeysWithValues: [
                .success,
                .invalidHandle,
                .readNotPermitted,
                .writeNotPermitted,
                .invalidPdu,
                .insufficientAuthentication,
                .requestNotSupported,
                .invalidOffset,
                .insufficientAuthorization,
                .prepareQueueFull,
                .attributeNotFound,
                .attributeNotLong,
                .insufficientEncryptionKeySize,
                .invalidAttributeValueLength,
                .unlikelyError,
                .insufficientEncryption,
                .unsupportedGroupType,
                .insufficientResources,
            ].map { ($0.rawValue, $0) }
        )

        /// A human-readable description of the error: one English sentence.
        var text: String {
            switch self {
            case .success: "No error."
            case .invalidHandle: "The attribute does not exist."
            case .readNotPermitted: "Reading the attribute is not permitted."
            case .writeNotPermitted: "Writing the attribute is not permitted."
            case .invalidPdu: "The request or its response is malformed."
            case .insufficientAuthentication: "The connection is not authenticated."
            case .requestNotSupported: "The request is not supported."
            case .invalidOffset: "The offset is past the end of the value."
            case .insufficientAuthorization: "The client is not authorized."
            case .prepareQueueFull: "The queue of prepared writes is full."
            case .attributeNotFound: "No such attribute was found in the range."
            case .attributeNotLong: "The attribute cannot be read in parts."
            case .insufficientEncryptionKeySize: "The encryption key of the connection is too short."
            case .invalidAttributeValueLength: "The length of the value is invalid."
            case .unlikelyError: "The server could not carry out the request."
            case .insufficientEncryption: "The connection is not encrypted."
            case .unsupportedGroupType: "The attribute type does not support grouping."
            case .insufficientResources: "The server has insufficient resources."
            case .__unrecognized(0x12): "The attributes have changed since they were discovered."
            case .__unrecognized(0x13): "The value is not allowed."
            case .__unrecognized(0x80...0x9F): "The device returned the application error \(rawValue)."
            case .__unrecognized(0xFC): "The write request was rejected."
            case .__unrecognized(0xFD): "Notifications or indications are not configured correctly."
            case .__unrecognized(0xFE): "The procedure is already in progress."
            case .__unrecognized(0xFF): "The value is out of range."
            case .__unrecognized(let number): "The device returned the error \(number)."
            }
        }

        /// Returns whether `error` has this code, for `catch CBATTError.writeNotPermitted`.
        public static func ~= (match: Self, error: any Error) -> Bool {
            if let error = error as? CBATTError { return error.code == match }
            let error = error as NSError
            return error.domain == CBATTErrorDomain && error.code == match.rawValue
        }
    }
}

extension CBATTError {
    /// No error.
    public static var success: Code { .success }
    /// The attribute does not exist.
    public static var invalidHandle: Code { .invalidHandle }
    /// The attribute cannot be read.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The attribute cannot be written.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request or its response is malformed.
    public static var invalidPdu: Code { .invalidPdu }
    /// The link is not authenticated.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The server does not support the request.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is past the end of the value.
    public static var invalidOffset: Code { .invalidOffset }
    /// The client is not authorized.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// The queue of prepared writes is full.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// No attribute was found in the range.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The attribute cannot be read in parts.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The encryption key of the link is too short.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The length of the value is invalid.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// The server could not carry out the request.
    public static var unlikelyError: Code { .unlikelyError }
    /// The link is not encrypted.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attribute type does not group other attributes.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The server has insufficient resources.
    public static var insufficientResources: Code { .insufficientResources }
}
