/// The properties of a link that determine what its peer may access.
package struct LinkTrust: Equatable, Sendable {
    package private(set) var security: LinkSecurity
    /// True if both devices have a key for the link: a bond's key, or the key with which the link is encrypted.
    package private(set) var hasKey: Bool
    /// True if the link is encrypted with a key that was made by LE Secure Connections.
    private var isSecureConnections = false
    /// The size of the key of an encrypted link, in octets.
    private var keySize = LinkRequirement.fullKeySize
    /// The key size that this host requires of each encrypted link, in octets.
    private var leastKeySize = 0
    package var isAuthorized = false

    /// Creates the trust of a link whose key, if it is encrypted, is from legacy pairing and has 16 octets.
    package init(_ security: LinkSecurity) {
        self.security = security
        hasKey = security > .unencrypted
    }

    /// Sets the strength of the key with which the link is encrypted; `nil` if the link is not encrypted.
    ///
    /// This host requires keys of `leastKeySize` octets.
    mutating func secure(_ strength: PairingStrength?, leastKeySize: Int) {
        security = strength?.security ?? .unencrypted
        isSecureConnections = strength?.isSecureConnections ?? false
        keySize = strength?.keySize ?? 0
        self.leastKeySize = leastKeySize
        if strength != nil { hasKey = true }
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
    /// | LE Secure Connections | encrypted with a key from legacy pairing | authentication |
    /// | encryption | encrypted with a key that is shorter than this host requires | key size |
    /// | LE Secure Connections | encrypted with a key of less than 16 octets | key size |
    /// | authorization | not authorized | authorization |
    ///
    /// The corresponding ATT error tells the peer whether it must pair, or only encrypt the link with its existing key.
    ///
    /// Core 6.0, Vol 3, Part C, 10.3.1.
    package func missingSecurity(for needed: LinkRequirement) -> InsufficientSecurity? {
        if needed.security > .unencrypted {
            guard security > .unencrypted else { return hasKey ? .encryption : .authentication }
            if security < needed.security { return .authentication }
            if needed.needsSecureConnections, !isSecureConnections { return .authentication }
            let leastKeySize = needed.needsSecureConnections ? LinkRequirement.fullKeySize : leastKeySize
            if keySize < leastKeySize { return .keySize }
        }
        return needed.needsAuthorization && !isAuthorized ? .authorization : nil
    }
}

/// The security that a link must have for an access.
package struct LinkRequirement: Equatable, Sendable {
    package var security: LinkSecurity
    /// True if the key must have been made by LE Secure Connections and have ``fullKeySize``.
    package var needsSecureConnections: Bool
    /// True if the peer must be authorized.
    package var needsAuthorization: Bool

    package init(_ security: LinkSecurity, needsSecureConnections: Bool = false, needsAuthorization: Bool = false) {
        self.security = security
        self.needsSecureConnections = needsSecureConnections
        self.needsAuthorization = needsAuthorization
    }

    package static let unencrypted = Self(.unencrypted)
    package static let encrypted = Self(.encrypted)
    /// An authenticated key of 16 octets that was made by LE Secure Connections: LE security mode 1, level 4.
    ///
    /// Core 6.0, Vol 3, Part C, 10.2.1.
    package static let secureConnections = Self(.authenticated, needsSecureConnections: true)

    /// The size of a key of full strength, in octets.
    static let fullKeySize = 16
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
