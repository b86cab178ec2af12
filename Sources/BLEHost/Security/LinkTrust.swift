/// The properties of a link that determine what its peer may access.
package struct LinkTrust: Equatable, Sendable {
    package private(set) var security: LinkSecurity
    /// True if both devices have a key for the link: a bond's key, or the key with which the link is encrypted.
    package private(set) var hasKey: Bool
    /// True if the key of an encrypted link has the required size.
    package private(set) var isKeyLongEnough: Bool
    package var isAuthorized: Bool

    package init(
        _ security: LinkSecurity,
        hasKey: Bool = false,
        isKeyLongEnough: Bool = true,
        isAuthorized: Bool = false
    ) {
        self.security = security
        self.hasKey = hasKey || security > .unencrypted
        self.isKeyLongEnough = isKeyLongEnough
        self.isAuthorized = isAuthorized
    }

    /// Sets the security of the link; the key has `keySize` octets, and this host requires `leastKeySize`.
    mutating func secure(_ security: LinkSecurity, keySize: Int, leastKeySize: Int) {
        self.security = security
        isKeyLongEnough = keySize >= leastKeySize
        if security > .unencrypted { hasKey = true }
    }

    /// Records that both devices have a key with which the link can be encrypted.
    mutating func bondAdded() { hasKey = true }

    /// Records that the bond was removed.
    ///
    /// An encrypted link still has its key.
    mutating func bondRemoved() { hasKey = security > .unencrypted }

    /// Returns what a link lacks for these requirements; `nil` if it lacks nothing.
    ///
    /// The first matching row applies:
    ///
    /// | needed | link | lack |
    /// | --- | --- | --- |
    /// | encryption | not encrypted, and there is no key | authentication |
    /// | encryption | not encrypted, but there is a key | encryption |
    /// | encryption with an authenticated key | encrypted with an unauthenticated key | authentication |
    /// | encryption | encrypted with a key that is too short | key size |
    /// | authorization | not authorized | authorization |
    ///
    /// The corresponding ATT error tells the peer whether it must pair, or only encrypt the link with its existing key.
    ///
    /// Core 6.0, Vol 3, Part C, 10.3.1.
    package func missingSecurity(for needed: LinkRequirement) -> InsufficientSecurity? {
        if needed.security > .unencrypted {
            guard security > .unencrypted else { return hasKey ? .encryption : .authentication }
            if security < needed.security { return .authentication }
            if !isKeyLongEnough { return .keySize }
        }
        return needed.needsAuthorization && !isAuthorized ? .authorization : nil
    }
}

/// The security that a link must have for an access.
package struct LinkRequirement: Equatable, Sendable {
    package var security: LinkSecurity
    /// True if the peer must be authorized.
    package var needsAuthorization: Bool

    package init(_ security: LinkSecurity, needsAuthorization: Bool = false) {
        self.security = security
        self.needsAuthorization = needsAuthorization
    }

    package static let unencrypted = Self(.unencrypted)
    package static let encrypted = Self(.encrypted)
}

/// The reason why the security of a link is not sufficient for an access.
package enum InsufficientSecurity: Equatable, Sendable {
    case authentication, encryption, keySize, authorization
}

/// The security of a link.
///
/// Core 6.0, Vol 3, Part C, 10.2.1.
package enum LinkSecurity: Int, Comparable, Sendable {
    case unencrypted
    /// Encrypted with an unauthenticated key.
    case encrypted
    /// Encrypted with an authenticated key.
    case authenticated

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
