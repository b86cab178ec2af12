package import BLEWire

/// The read and write permissions of a local attribute.
///
/// Each access has a plain permission and permissions with a requirement; the strongest requirement applies.
package struct AttributePermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let readable = Self(rawValue: 0x01)
    package static let writeable = Self(rawValue: 0x02)
    package static let readEncryptionRequired = Self(rawValue: 0x04)
    package static let writeEncryptionRequired = Self(rawValue: 0x08)
    package static let readAuthenticationRequired = Self(rawValue: 0x10)
    package static let writeAuthenticationRequired = Self(rawValue: 0x20)
    package static let authorizationRequired = Self(rawValue: 0x40)
    /// Reads need an authenticated key of 16 octets from LE Secure Connections: LE security mode 1, level 4.
    ///
    /// Contains ``readAuthenticationRequired``.
    package static let readSecureConnectionsRequired = Self(rawValue: 0x110)
    /// Writes need an authenticated key of 16 octets from LE Secure Connections: LE security mode 1, level 4.
    ///
    /// Contains ``writeAuthenticationRequired``.
    package static let writeSecureConnectionsRequired = Self(rawValue: 0x220)
}

extension AttributePermissions {
    /// The permissions to read on an encrypted link.
    package static var protectedReads: Self { [.readEncryptionRequired, .readAuthenticationRequired] }
    /// The permissions to write on an encrypted link.
    package static var protectedWrites: Self { [.writeEncryptionRequired, .writeAuthenticationRequired] }

    /// True if some kind of access needs an encrypted link.
    var needEncryption: Bool { !isDisjoint(with: Self.protectedReads.union(.protectedWrites)) }

    /// True if some peers may write the attribute.
    var allowWrites: Bool { !isDisjoint(with: Self.protectedWrites.union(.writeable)) }

    /// The kind of access to an attribute.
    package enum Access: Sendable {
        case read, write
    }

    /// Returns whether any device may access the attribute on any link; ``refusal(of:on:)`` then always returns `nil`.
    @inline(__always)
    func isOpen(to access: Access) -> Bool {
        switch access {
        case .read: intersection(Self.protectedReads.union([.readable, .authorizationRequired])) == .readable
        case .write: intersection(Self.protectedWrites.union([.writeable, .authorizationRequired])) == .writeable
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
        let (plain, encrypted, authenticated, secureConnections): (Self, Self, Self, Self) =
            switch access {
            case .read:
                (.readable, .readEncryptionRequired, .readAuthenticationRequired, .readSecureConnectionsRequired)
            case .write:
                (.writeable, .writeEncryptionRequired, .writeAuthenticationRequired, .writeSecureConnectionsRequired)
            }
        guard !isDisjoint(with: plain.union(encrypted).union(authenticated)) else {
            return access == .read ? .readNotPermitted : .writeNotPermitted
        }
        let security: LinkSecurity =
            contains(authenticated) ? .authenticated : contains(encrypted) ? .encrypted : .unencrypted
        let needed = LinkRequirement(
            security,
            needsSecureConnections: contains(secureConnections),
            needsAuthorization: contains(.authorizationRequired)
        )
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
