import Foundation

extension CBError {
    /// The code of an error on this machine or on the link.
    ///
    /// A number without a name is kept, so ``init(rawValue:)`` never returns `nil`.
    public enum Code: RawRepresentable, BitwiseCopyable, Hashable, Sendable {
        /// An unknown error.
        case unknown
        /// The parameters are invalid.
        case invalidParameters
        /// The attribute does not exist, or no longer exists.
        case invalidHandle
        /// The device is not connected.
        case notConnected
        /// There is not enough space for the operation.
        case outOfSpace
        /// The operation was cancelled.
        case operationCancelled
        /// The connection was lost: the device did not respond for too long.
        case connectionTimeout
        /// The device ended the connection.
        case peripheralDisconnected
        /// The UUID is reserved for the system.
        case uuidNotAllowed
        /// The manager is already advertising.
        case alreadyAdvertising
        /// The connection could not be established.
        case connectionFailed
        /// The maximum number of connections has been reached.
        case connectionLimitReached
        /// The device is unknown.
        case unknownDevice
        /// The operation is not supported.
        case operationNotSupported
        /// The device has removed the bond.
        case peerRemovedPairingInformation
        /// The connection could not be encrypted in time.
        case encryptionTimedOut
        /// The maximum number of bonds has been reached.
        case tooManyLEPairedDevices
        /// An app in the background received too many notifications.
        case leGattExceededBackgroundNotificationLimit
        /// An app in the background has received nearly too many notifications.
        case leGattNearBackgroundNotificationLimit
        /// A code without a name.
        case __unrecognized(Int)

        /// Creates a code from its number; never returns `nil`.
        public init?(rawValue: Int) { self = Self.named[rawValue] ?? .__unrecognized(rawValue) }

        /// The numeric value of the error code.
        public var rawValue: Int {
            switch self {
            case .unknown: 0
            case .invalidParameters: 1
            case .invalidHandle: 2
            case .notConnected: 3
            case .outOfSpace: 4
            case .operationCancelled: 5
            case .connectionTimeout: 6
            case .peripheralDisconnected: 7
            case .uuidNotAllowed: 8
            case .alreadyAdvertising: 9
            case .connectionFailed: 10
            case .connectionLimitReached: 11
            case .unknownDevice: 12
            case .operationNotSupported: 13
            case .peerRemovedPairingInformation: 14
            case .encryptionTimedOut: 15
            case .tooManyLEPairedDevices: 16
            case .leGattExceededBackgroundNotificationLimit: 17
            case .leGattNearBackgroundNotificationLimit: 18
            case .__unrecognized(let number): number
            }
        }

        private static let named: [Int: Self] = Dictionary(
            uniqueKeysWithValues: [
                .unknown,
                .invalidParameters,
                .invalidHandle,
                .notConnected,
                .outOfSpace,
                .operationCancelled,
                .connectionTimeout,
                .peripheralDisconnected,
                .uuidNotAllowed,
                .alreadyAdvertising,
                .connectionFailed,
                .connectionLimitReached,
                .unknownDevice,
                .operationNotSupported,
                .peerRemovedPairingInformation,
                .encryptionTimedOut,
                .tooManyLEPairedDevices,
                .leGattExceededBackgroundNotificationLimit,
                .leGattNearBackgroundNotificationLimit,
            ].map { ($0.rawValue, $0) }
        )

        /// A human-readable description of the error: one English sentence.
        var text: String {
            switch self {
            case .unknown: "An unknown error occurred."
            case .invalidParameters: "A parameter is invalid."
            case .invalidHandle: "The attribute does not exist, or no longer exists."
            case .notConnected: "The device is not connected."
            case .outOfSpace: "There is no space left for the request."
            case .operationCancelled: "The operation was cancelled."
            case .connectionTimeout: "The connection timed out."
            case .peripheralDisconnected: "The device ended the connection."
            case .uuidNotAllowed: "The UUID is reserved for the system."
            case .alreadyAdvertising: "Advertising has already started."
            case .connectionFailed: "The connection could not be established."
            case .connectionLimitReached: "The maximum number of connections has been reached."
            case .unknownDevice: "The device is not known."
            case .operationNotSupported: "The operation is not supported."
            case .peerRemovedPairingInformation: "The device no longer has the keys of the bond."
            case .encryptionTimedOut: "The connection could not be encrypted in time."
            case .tooManyLEPairedDevices: "The maximum number of bonds has been reached."
            case .leGattExceededBackgroundNotificationLimit: "Too many notifications arrived in the background."
            case .leGattNearBackgroundNotificationLimit:
                "The limit for notifications in the background has almost been reached."
            case .__unrecognized(let number): "Unknown error \(number)."
            }
        }

        /// Returns whether `error` has this code, for `catch CBError.notConnected`.
        public static func ~= (match: Self, error: any Error) -> Bool {
            if let error = error as? CBError { return error.code == match }
            let error = error as NSError
            return error.domain == CBErrorDomain && error.code == match.rawValue
        }

        /// The device is unknown (deprecated spelling).
        @available(*, deprecated, renamed: "unknownDevice")
        public static var unkownDevice: Self { .unknownDevice }
    }
}

extension CBError {
    /// An unknown error.
    public static var unknown: Code { .unknown }
    /// The parameters are invalid.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute does not exist, or no longer exists.
    public static var invalidHandle: Code { .invalidHandle }
    /// The device is not connected.
    public static var notConnected: Code { .notConnected }
    /// There is not enough space for the operation.
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The connection was lost: the device did not respond for too long.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The device ended the connection.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The UUID is reserved for the system.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// The manager is already advertising.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection could not be established.
    public static var connectionFailed: Code { .connectionFailed }
    /// The maximum number of connections has been reached.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is unknown.
    public static var unknownDevice: Code { .unknownDevice }
    /// The operation is not supported.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The device has removed the bond.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// The connection could not be encrypted in time.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// The maximum number of bonds has been reached.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// An app in the background received too many notifications.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// An app in the background has received nearly too many notifications.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The device is unknown (deprecated spelling).
    @available(*, deprecated, renamed: "unknownDevice")
    public static var unkownDevice: Code { .unknownDevice }
}
