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

/// All that decides what the peer of a link may do with protected attributes.
package struct LinkTrust: Equatable, Sendable {
    package var security: LinkSecurity
    /// Whether the key of an encrypted link has as many octets as this host wants.
    package var isKeyLongEnough: Bool
    /// Whether somebody has said that this peer may do what needs an authorisation.
    package var isAuthorized: Bool

    package init(_ security: LinkSecurity, isKeyLongEnough: Bool = true, isAuthorized: Bool = false) {
        self.security = security
        self.isKeyLongEnough = isKeyLongEnough
        self.isAuthorized = isAuthorized
    }
}

extension AttributePermissions {
    /// What a peer does with an attribute.
    package enum Access: Sendable {
        case read, write
    }

    /// Why a peer that is trusted so far may not do that; `nil` if it may.
    ///
    /// The first line that holds decides:
    ///
    /// | permissions for this access | link | refusal |
    /// | --- | --- | --- |
    /// | none | any | Read Not Permitted, Write Not Permitted |
    /// | authentication required | not authenticated | Insufficient Authentication |
    /// | encryption required | not encrypted | Insufficient Encryption |
    /// | either of the two | encrypted with a key that is too short | Encryption Key Size Too Short |
    /// | authorisation required | not authorised | Insufficient Authorization |
    ///
    /// Every operation goes through this table: reads of any kind as reads; write requests, commands, signed or not,
    /// and each part that is prepared, as writes.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.5 and 4; Part C, 10.3.1.
    package func refusal(of access: Access, on trust: LinkTrust) -> ATT.ErrorCode? {
        let (plain, encrypted, authenticated): (Self, Self, Self) =
            switch access {
            case .read: (.readable, .readEncryptionRequired, .readAuthenticationRequired)
            case .write: (.writeable, .writeEncryptionRequired, .writeAuthenticationRequired)
            }
        guard !isDisjoint(with: [plain, encrypted, authenticated]) else {
            return access == .read ? .readNotPermitted : .writeNotPermitted
        }
        if !isDisjoint(with: [encrypted, authenticated]) {
            if contains(authenticated), trust.security < .authenticated { return .insufficientAuthentication }
            if trust.security < .encrypted { return .insufficientEncryption }
            if !trust.isKeyLongEnough { return .encryptionKeySizeTooShort }
        }
        return contains(.authorizationRequired) && !trust.isAuthorized ? .insufficientAuthorization : nil
    }
}
