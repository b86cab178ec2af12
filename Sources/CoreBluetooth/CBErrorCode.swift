import Foundation

extension CBError {
    /// What went wrong on this machine or on the link.
    ///
    /// Codes without a name are kept, so that ``init(rawValue:)`` never gives `nil`.
    public enum Code: RawRepresentable, BitwiseCopyable, Hashable, Sendable {
        /// Something went wrong that has no name.
        case unknown
        /// What was asked for makes no sense.
        case invalidParameters
        /// The attribute is not there, or no longer.
        case invalidHandle
        /// There is no connection to the device.
        case notConnected
        /// There is no room for what was asked for.
        case outOfSpace
        /// The operation was withdrawn.
        case operationCancelled
        /// The device was not heard of for too long.
        case connectionTimeout
        /// The device ended the connection.
        case peripheralDisconnected
        /// The UUID is reserved for the system.
        case uuidNotAllowed
        /// Advertising is on already.
        case alreadyAdvertising
        /// The connection could not be made.
        case connectionFailed
        /// There are as many connections as there can be.
        case connectionLimitReached
        /// The device is not known.
        case unknownDevice
        /// The operation is not supported.
        case operationNotSupported
        /// The device has forgotten the bond.
        case peerRemovedPairingInformation
        /// The connection could not be encrypted in time.
        case encryptionTimedOut
        /// There are as many bonds as there can be.
        case tooManyLEPairedDevices
        /// An app in the background received too many notifications.
        case leGattExceededBackgroundNotificationLimit
        /// An app in the background nearly received too many notifications.
        case leGattNearBackgroundNotificationLimit
        /// A code without a name.
        case __unrecognized(Int)

        /// Creates a code from its number; never `nil`.
        public init?(rawValue: Int) { self = Self.named[rawValue] ?? .__unrecognized(rawValue) }

        /// The number of the code.
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

        /// What the code means, in words for people.
        var text: String {
            switch self {
            case .unknown: "Something went wrong that has no name."
            case .invalidParameters: "The parameters make no sense."
            case .invalidHandle: "The attribute is not there, or no longer."
            case .notConnected: "There is no connection to the device."
            case .outOfSpace: "There is no room for what was asked for."
            case .operationCancelled: "The operation was withdrawn."
            case .connectionTimeout: "The device was not heard of for too long."
            case .peripheralDisconnected: "The device ended the connection."
            case .uuidNotAllowed: "The UUID is reserved for the system."
            case .alreadyAdvertising: "Advertising is on already."
            case .connectionFailed: "The connection could not be made."
            case .connectionLimitReached: "There are as many connections as there can be."
            case .unknownDevice: "The device is not known."
            case .operationNotSupported: "The operation is not supported."
            case .peerRemovedPairingInformation: "The device has forgotten the bond."
            case .encryptionTimedOut: "The connection could not be encrypted in time."
            case .tooManyLEPairedDevices: "There are as many bonds as there can be."
            case .leGattExceededBackgroundNotificationLimit: "Too many notifications arrived in the background."
            case .leGattNearBackgroundNotificationLimit: "Nearly too many notifications arrived in the background."
            case .__unrecognized(let number): "Error \(number), which has no name."
            }
        }

        /// Whether `error` has this code, so that `catch CBError.notConnected` works.
        public static func ~= (match: Self, error: any Error) -> Bool {
            if let error = error as? CBError { return error.code == match }
            let error = error as NSError
            return error.domain == CBErrorDomain && error.code == match.rawValue
        }

        /// The device is not known; the spelling of long ago.
        @available(*, deprecated, renamed: "unknownDevice")
        public static var unkownDevice: Self { .unknownDevice }
    }
}

extension CBError {
    /// Something went wrong that has no name.
    public static var unknown: Code { .unknown }
    /// What was asked for makes no sense.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute is not there, or no longer.
    public static var invalidHandle: Code { .invalidHandle }
    /// There is no connection to the device.
    public static var notConnected: Code { .notConnected }
    /// There is no room for what was asked for.
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was withdrawn.
    public static var operationCancelled: Code { .operationCancelled }
    /// The device was not heard of for too long.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The device ended the connection.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The UUID is reserved for the system.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// Advertising is on already.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection could not be made.
    public static var connectionFailed: Code { .connectionFailed }
    /// There are as many connections as there can be.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is not known.
    public static var unknownDevice: Code { .unknownDevice }
    /// The operation is not supported.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The device has forgotten the bond.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// The connection could not be encrypted in time.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// There are as many bonds as there can be.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// An app in the background received too many notifications.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// An app in the background nearly received too many notifications.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The device is not known; the spelling of long ago.
    @available(*, deprecated, renamed: "unknownDevice")
    public static var unkownDevice: Code { .unknownDevice }
}
