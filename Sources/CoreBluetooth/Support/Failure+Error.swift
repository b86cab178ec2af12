package import BLEHost
import BLEWire
import Foundation

extension Failure {
    /// The kind of object that a failed request was about, on which some error codes depend.
    package enum Subject {
        case connection, attribute, server, channel
    }

    /// The key for the HCI status in an error's user information.
    ///
    /// The value is an `NSNumber`.
    static let reasonKey = "HCIReason"

    /// Converts to the error for apps: a ``CBATTError`` for an ATT error, a ``CBError`` for anything else.
    package func error(about subject: Subject) -> any Error {
        switch self {
        case .att(let code): return CBATTError(ErrorTable.code(of: code))
        case .hci(let status):
            return CBError(
                ErrorTable.code(of: status),
                userInfo: [
                    Self.reasonKey: NSNumber(value: status.wire),
                    NSLocalizedFailureReasonErrorKey: "\(status)",
                ]
            )
        case .channel(let result): return Self.error(of: result)
        case .invalidResponse: return Self.unknown("The device sent an invalid response.")
        case .peerMisbehaved: return Self.unknown("The device violated the channel protocol.")
        case .timedOut: return CBError(.connectionTimeout)
        case .encryptionTimedOut: return CBError(.encryptionTimedOut)
        case .notConnected: return CBError(.notConnected)
        case .cancelled: return CBError(.operationCancelled)
        case .poweredOff: return CBError(subject == .connection ? .connectionFailed : .notConnected)
        case .notFound: return CBError(subject == .connection ? .unknownDevice : .invalidHandle)
        case .invalidParameters: return CBError(.invalidParameters)
        case .notSupported: return CBError(.operationNotSupported)
        case .uuidNotAllowed: return CBError(.uuidNotAllowed)
        case .alreadyInProgress: return CBError(subject == .server ? .alreadyAdvertising : .unknown)
        case .limitReached: return CBError(subject == .connection ? .connectionLimitReached : .outOfSpace)
        }
    }

    /// Returns an error with the description `sentence`, for a failure that has no code of its own.
    private static func unknown(_ sentence: String) -> CBError {
        CBError(.unknown, userInfo: [NSLocalizedDescriptionKey: sentence])
    }

    /// Returns the error for a refused channel.
    ///
    /// A channel that was refused because of insufficient security has the same error as an attribute.
    ///
    /// Core 6.0, Vol 3, Part A, 4.23 and 4.26.
    private static func error(of result: Signal.ConnectionResult) -> any Error {
        switch result {
        case .spsmNotSupported: CBError(.operationNotSupported)
        case .insufficientResources: CBError(.connectionLimitReached)
        case .insufficientAuthentication: CBATTError(.insufficientAuthentication)
        case .insufficientAuthorization: CBATTError(.insufficientAuthorization)
        case .encryptionKeySizeTooShort: CBATTError(.insufficientEncryptionKeySize)
        case .insufficientEncryption: CBATTError(.insufficientEncryption)
        case .unacceptableParameters, .invalidParameters: CBError(.invalidParameters)
        default: CBError(.unknown)
        }
    }
}
