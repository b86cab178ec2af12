/// All that decides what the peer of a link may do with what is protected.
package struct LinkTrust: Equatable, Sendable {
    package private(set) var security: LinkSecurity
    /// Whether there is a key that the link could be encrypted with: that of a bond, or the one that it is encrypted
    /// with already.
    package private(set) var hasKey: Bool
    /// Whether the key of an encrypted link has as many octets as this host wants.
    package private(set) var isKeyLongEnough: Bool
    /// Whether somebody has said that this peer may do what needs an authorisation.
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

    /// Notes how the link is protected from now on; the key has `keySize` octets, and this host wants `leastKeySize`.
    mutating func secure(_ security: LinkSecurity, keySize: Int, leastKeySize: Int) {
        self.security = security
        isKeyLongEnough = keySize >= leastKeySize
        if security > .unencrypted { hasKey = true }
    }

    /// Notes that both ends keep a key, with which the link could be encrypted.
    mutating func bond() { hasKey = true }

    /// Notes that the bond is gone; a link that is encrypted still has its key.
    mutating func unbond() { hasKey = security > .unencrypted }

    /// What a link lacks for something that has these requirements; `nil` if it lacks nothing.
    ///
    /// The first line that holds decides:
    ///
    /// | needed | link | lack |
    /// | --- | --- | --- |
    /// | encryption, with whatever key | not encrypted, and there is no key | authentication |
    /// | encryption, with whatever key | not encrypted, though there is a key | encryption |
    /// | encryption with an authenticated key | encrypted with another | authentication |
    /// | encryption, with whatever key | encrypted with a key that is too short | key size |
    /// | authorisation | not authorised | authorisation |
    ///
    /// So a peer can tell whether it has to pair, or only to encrypt with the key that it has.
    ///
    /// Core 6.0, Vol 3, Part C, 10.3.1.
    package func lack(of needed: LinkRequirement) -> SecurityLack? {
        if needed.security > .unencrypted {
            guard security > .unencrypted else { return hasKey ? .encryption : .authentication }
            if security < needed.security { return .authentication }
            if !isKeyLongEnough { return .keySize }
        }
        return needed.needsAuthorization && !isAuthorized ? .authorization : nil
    }
}

/// What a link must have for something to be done on it.
package struct LinkRequirement: Equatable, Sendable {
    package var security: LinkSecurity
    /// Whether somebody must have said that the peer may.
    package var needsAuthorization: Bool

    package init(_ security: LinkSecurity, needsAuthorization: Bool = false) {
        self.security = security
        self.needsAuthorization = needsAuthorization
    }

    package static let unencrypted = Self(.unencrypted)
    package static let encrypted = Self(.encrypted)
}

/// What a link lacks, so that a peer is refused.
package enum SecurityLack: Equatable, Sendable {
    case authentication, encryption, keySize, authorization
}
