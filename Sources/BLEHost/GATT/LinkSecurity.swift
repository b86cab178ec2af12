package import BLEWire

/// How far a link can be trusted.
///
/// Core 6.0, Vol 3, Part C, 10.2.1.
package enum LinkSecurity: Int, Comparable, Sendable {
    case unencrypted
    /// Encrypted, with a key of which nobody knows who has it.
    case encrypted
    /// Encrypted, with a key that was authenticated.
    case authenticated

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension AttributePermissions {
    /// What a peer does with an attribute.
    package enum Access: Sendable {
        case read, write
    }

    /// Why a peer on a link of this security may not do that; `nil` if it may.
    ///
    /// Whether it may at all comes first; then what it would take.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.5.
    package func refusal(of access: Access, security: LinkSecurity) -> ATT.ErrorCode? {
        let (plain, encrypted, authenticated): (Self, Self, Self) =
            switch access {
            case .read: (.readable, .readEncryptionRequired, .readAuthenticationRequired)
            case .write: (.writeable, .writeEncryptionRequired, .writeAuthenticationRequired)
            }
        guard !isDisjoint(with: [plain, encrypted, authenticated]) else {
            return access == .read ? .readNotPermitted : .writeNotPermitted
        }
        if contains(authenticated), security < .authenticated { return .insufficientAuthentication }
        if contains(encrypted), security < .encrypted { return .insufficientEncryption }
        return contains(.authorizationRequired) ? .insufficientAuthorization : nil
    }
}
