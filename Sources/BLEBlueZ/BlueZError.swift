package import BLEHost
package import BLEWire
package import DBus

/// An error that BlueZ's D-Bus API defines.
///
/// Programs compare both the name and the text.
package struct BlueZError: Error, Hashable {
    package let name: String
    package let text: String

    package init(_ name: String, _ text: String) {
        self.name = "org.bluez.Error." + name
        self.text = text
    }

    private init(bus name: String, _ text: String) {
        self.name = "org.freedesktop.DBus.Error." + name
        self.text = text
    }

    package static let failed = Self("Failed", "Operation failed")
    package static let inProgress = Self("InProgress", "Operation already in progress")
    package static let notReady = Self("NotReady", "Resource Not Ready")
    package static let notSupported = Self("NotSupported", "Operation is not supported")
    package static let notAuthorized = Self("NotAuthorized", "Operation Not Authorized")
    package static let notConnected = Self("NotConnected", "Not Connected")
    package static let alreadyExists = Self("AlreadyExists", "Already Exists")
    package static let doesNotExist = Self("DoesNotExist", "Does Not Exist")
    package static let invalidArguments = Self("InvalidArguments", "Invalid arguments in method call")
    package static let invalidOffset = Self("InvalidArguments", "Invalid offset")
    package static let connectionAborted = Self("Failed", "le-connection-abort-by-local")
    package static let notifyAcquired = Self("NotPermitted", "Notify acquired")
    package static let writeAcquired = Self("NotPermitted", "Write acquired")
    package static let noDiscovery = Self("Failed", "No discovery started")
    package static let notNotifying = Self("Failed", "No notify session started")
    package static let authenticationFailed = Self("AuthenticationFailed", "Authentication Failed")
    package static let authenticationCanceled = Self("AuthenticationCanceled", "Authentication Canceled")
    package static let authenticationRejected = Self("AuthenticationRejected", "Authentication Rejected")
    package static let authenticationTimeout = Self("AuthenticationTimeout", "Authentication Timeout")
    package static let invalidAdvertisement = Self("Failed", "Failed to parse advertisement.")
    package static let refusedAdvertisement = Self("Failed", "Failed to register advertisement")
    package static let connectionAttemptFailed = Self("ConnectionAttemptFailed", "Page Timeout")

    /// Returns the error for a call to a method or object that does not exist; `kind` is `Method` or `Object`.
    package static func unknown(_ kind: String, _ call: BusMessage) -> Self {
        let signature = call.signature, name = call.member ?? "", interface = call.interface ?? ""
        let method = "Method \"\(name)\" with signature \"\(signature)\" on interface \"\(interface)\""
        return Self(bus: "Unknown" + kind, method + " doesn't exist\n")
    }

    package static func unknownInterface(_ name: String) -> Self {
        Self(bus: "InvalidArgs", "No such interface '\(name)'")
    }

    package static func unknownProperty(_ name: String) -> Self {
        Self(bus: "InvalidArgs", "No such property '\(name)'")
    }

    package static func readOnly(_ name: String) -> Self {
        Self(bus: "PropertyReadOnly", "Property '\(name)' is not writable")
    }

    package static func invalidSignature(_ name: String) -> Self {
        Self(bus: "InvalidSignature", "Invalid signature for '\(name)'")
    }

    package static let limitReached = Self(bus: "LimitsExceeded", "There are too many of these")
}

extension BlueZError {
    /// Creates the error for a request that failed.
    package init(_ failure: Failure) {
        switch failure {
        case .att(let code): self.init(code)
        case .notConnected, .poweredOff: self = .notConnected
        case .notSupported: self = .notSupported
        case .alreadyInProgress: self = .inProgress
        case .timedOut, .encryptionTimedOut: self.init("Failed", "Operation timed out")
        case .uuidNotAllowed: self = .notAuthorized
        case .invalidParameters: self = .invalidArguments
        case .invalidResponse, .hci, .channel, .peerMisbehaved, .cancelled, .notFound, .limitReached: self = .failed
        }
    }

    private init(_ code: ATT.ErrorCode) {
        switch code {
        case .readNotPermitted: self.init("NotPermitted", "Read not permitted")
        case .writeNotPermitted: self.init("NotPermitted", "Write not permitted")
        case .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort:
            self.init("NotPermitted", "Not paired")
        case .invalidOffset: self = .invalidOffset
        case .invalidAttributeValueLength: self.init("InvalidArguments", "Invalid Length")
        case .insufficientAuthorization: self = .notAuthorized
        case .requestNotSupported: self = .notSupported
        default: self.init("Failed", "Operation failed with ATT error: 0x" + [code.wire].hexadecimal)
        }
    }

    /// Creates the error for a pairing that failed.
    package init(_ failure: PairingFailure) {
        switch failure {
        case .refused(let reason), .refusedByPeer(let reason):
            self = reason == .passkeyEntryFailed ? .authenticationCanceled : .authenticationFailed
        case .timedOut: self = .authenticationTimeout
        case .disconnected: self = .connectionAttemptFailed
        case .noAgent: self = .authenticationRejected
        case .encryptionFailed, .tooSoon, .cannotAuthenticate: self = .authenticationFailed
        }
    }

    /// Returns the ATT error for a remote device whose read or write a program has refused with the D-Bus error `name`.
    ///
    /// `text` is the message of the D-Bus error.
    package static func attribute(_ name: String, _ text: String?) -> ATT.ErrorCode {
        switch name {
        case "org.bluez.Error.NotPermitted": .readNotPermitted
        case "org.bluez.Error.NotAuthorized": .insufficientAuthorization
        case "org.bluez.Error.NotSupported": .requestNotSupported
        case "org.bluez.Error.InvalidOffset": .invalidOffset
        case "org.bluez.Error.InvalidValueLength", "org.bluez.Error.InvalidLength": .invalidAttributeValueLength
        case "org.bluez.Error.InProgress": .procedureAlreadyInProgress
        case "org.bluez.Error.ImproperlyConfigured": .configurationDescriptorImproperlyConfigured
        case "org.bluez.Error.Failed": profileError(text) ?? .unlikelyError
        default: .unlikelyError
        }
    }

    /// Returns the ATT error code in the text of a `Failed` error; `nil` unless the text is a code from 0x80 to 0x9F.
    private static func profileError(_ text: String?) -> ATT.ErrorCode? {
        guard let text, text.hasPrefix("0x"), let code = UInt8(text.dropFirst(2), radix: 16), 0x80...0x9F ~= code else {
            return nil
        }
        return ATT.ErrorCode(wire: code)
    }
}
