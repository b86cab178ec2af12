package import BLEWire

/// The read and write permissions of a local attribute.
package struct AttributePermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readable = Self(rawValue: 0x01)
    package static let writeable = Self(rawValue: 0x02)
    package static let readEncryptionRequired = Self(rawValue: 0x04)
    package static let writeEncryptionRequired = Self(rawValue: 0x08)
    package static let readAuthenticationRequired = Self(rawValue: 0x10)
    package static let writeAuthenticationRequired = Self(rawValue: 0x20)
    package static let authorizationRequired = Self(rawValue: 0x40)
}

extension AttributePermissions {
    /// True if some kind of access needs an encrypted link.
    var needEncryption: Bool {
        !isDisjoint(with: [
            .readEncryptionRequired, .writeEncryptionRequired, .readAuthenticationRequired,
            .writeAuthenticationRequired,
        ])
    }

    /// The kind of access to an attribute.
    package enum Access: Sendable {
        case read, write
    }

    /// Returns whether any device may access the attribute on any link; ``refusal(of:on:)`` then always returns `nil`.
    @inline(__always)
    func isOpen(to access: Access) -> Bool {
        switch access {
        case .read:
            self.intersection([.readable, .readEncryptionRequired, .readAuthenticationRequired, .authorizationRequired])
                == .readable
        case .write:
            self.intersection([
                .writeable, .writeEncryptionRequired, .writeAuthenticationRequired, .authorizationRequired,
            ])
                == .writeable
        }
    }

    /// Returns the error for an access on a link with this trust; `nil` if it is permitted.
    ///
    /// If the attribute has no permission for the access, the error is Read Not Permitted or Write Not Permitted.
    /// Otherwise its permissions determine the required security, and ``LinkTrust/missingSecurity(for:)`` finds
    /// what the link lacks.
    ///
    /// All ATT reads need the permission to read. Write requests, write commands (signed or not) and prepared writes
    /// need the permission to write.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.5 and 4; Part C, 10.3.1.
    package func refusal(of access: Access, on trust: LinkTrust) -> ATT.ErrorCode? {
        if isOpen(to: access) { return nil }
        let (plain, encrypted, authenticated): (Self, Self, Self) =
            switch access {
            case .read: (.readable, .readEncryptionRequired, .readAuthenticationRequired)
            case .write: (.writeable, .writeEncryptionRequired, .writeAuthenticationRequired)
            }
        guard !isDisjoint(with: plain.union(encrypted).union(authenticated)) else {
            return access == .read ? .readNotPermitted : .writeNotPermitted
        }
        let security: LinkSecurity =
            contains(authenticated) ? .authenticated : contains(encrypted) ? .encrypted : .unencrypted
        let needed = LinkRequirement(security, needsAuthorization: contains(.authorizationRequired))
        return trust.missingSecurity(for: needed)?.refusal
    }
}

extension InsufficientSecurity {
    /// The ATT error that reports what the link lacks.
    fileprivate var refusal: ATT.ErrorCode {
        switch self {
        case .authentication: .insufficientAuthentication
        case .encryption: .insufficientEncryption
        case .keySize: .encryptionKeySizeTooShort
        case .authorization: .insufficientAuthorization
        }
    }
}
