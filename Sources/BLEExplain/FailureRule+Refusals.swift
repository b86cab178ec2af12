import BLEWire

extension ATT.ErrorCode {
    /// Returns the sentence that says what the link lacked when a server refused a request with this code.
    func lack(isEncrypted: Bool) -> String {
        if self == .insufficientAuthorization {
            return "The server has not authorized this client; pairing again does not change that."
        }
        guard isEncrypted else {
            return "The link was not encrypted: the devices had not paired, or the pairing failed."
        }
        return switch self {
        case .insufficientAuthentication:
            "The link was encrypted, but its key comes from a pairing without authentication."
        case .encryptionKeySizeTooShort: "The link was encrypted, but its key is shorter than the server requires."
        default: "The link was encrypted, but with a key that is not strong enough."
        }
    }
}
