import CoreBluetooth
import CoreBluetoothExtras

/// The reason why a command of a session failed, as the answer reports it.
///
/// docs/SESSION.md lists the codes.
struct SessionFailure: Error {
    /// The kinds of failure that programs can tell apart.
    enum Code: String, CaseIterable {
        case invalid
        case notFound = "not_found"
        case ambiguous
        case notConnected = "not_connected"
        case noAttribute = "no_attribute"
        case tooLong = "too_long"
        case timedOut = "timed_out"
        case refused
        case disconnected
        case radioOff = "radio_off"
        case cancelled
        case busy
        case pairingFailed = "pairing_failed"
        case notServed = "not_served"
        case noRequest = "no_request"
        case noChannel = "no_channel"
    }

    let code: Code
    /// A human-readable explanation of the failure: one sentence.
    let sentence: String
    /// The error that was thrown, usually by Core Bluetooth; `nil` for `ble`'s own errors, failed pairings and
    /// cancelled commands.
    private(set) var cause: NSError?

    init(_ code: Code, _ sentence: String) { (self.code, self.sentence) = (code, sentence) }

    /// Creates the failure that reports an error thrown while a command was performed.
    init(_ error: any Error) {
        switch error {
        case let failure as Self: self = failure
        case let error as CommandError: self.init(error)
        case let error as PairingError: self.init(.pairingFailed, "Pairing failed: \(error).")
        case is CancellationError: self.init(.cancelled, "The command was cancelled.")
        default:
            self.init(Self.code(of: error), CommandError.describe(error) + ".")
            cause = error as NSError
        }
    }

    private init(_ error: CommandError) {
        let code: Code =
            switch error {
            case .notFound: .notFound
            case .ambiguous: .ambiguous
            case .noRadio, .radioLost: .radioOff
            case .noAnswer: .timedOut
            case .noCharacteristic: .noAttribute
            case .cancelled: .cancelled
            case .disconnected: .disconnected
            case .unusableFile: .invalid
            default: .refused
            }
        self.init(code, "\(error)")
    }

    private static func code(of error: any Error) -> Code {
        switch (error as? CBError)?.code {
        case .notConnected: .notConnected
        case .connectionTimeout: .timedOut
        case .peripheralDisconnected, .connectionFailed, .encryptionTimedOut: .disconnected
        case .operationCancelled: .cancelled
        case .invalidHandle: .noAttribute
        default: .refused
        }
    }

    /// The keys with which an answer reports the failure.
    var fields: [String: Any] {
        var fields: [String: Any] = ["error": sentence, "code": code.rawValue]
        fields["domain"] = cause?.domain
        fields["error_code"] = cause?.code
        return fields
    }
}
