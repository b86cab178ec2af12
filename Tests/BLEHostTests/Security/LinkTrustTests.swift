import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part C, 10.3.1.
@Suite("Missing link security")
struct LinkTrustTests {
    static func trust(
        _ security: LinkSecurity,
        bonded: Bool = false,
        keySize: Int = 16,
        isSecureConnections: Bool = false
    ) -> LinkTrust {
        var trust = LinkTrust(.unencrypted)
        if bonded { trust.bondAdded() }
        let strength = PairingStrength.key(security, keySize: keySize, isSecureConnections: isSecureConnections)
        trust.secure(strength, leastKeySize: 16)
        return trust
    }

    @Test(
        "The error tells a peer whether to pair or only to encrypt",
        arguments: [
            (.unencrypted, trust(.unencrypted), nil), (.encrypted, trust(.unencrypted), .authentication),
            (.encrypted, trust(.unencrypted, bonded: true), .encryption), (.encrypted, trust(.encrypted), nil),
            (.authenticated, trust(.encrypted), .authentication), (.authenticated, trust(.authenticated), nil),
            (.authenticated, trust(.unencrypted, bonded: true), .encryption),
            (.encrypted, trust(.encrypted, keySize: 15), .keySize),
            (.unencrypted, trust(.unencrypted, keySize: 7), nil),
            (.authenticated, trust(.encrypted, keySize: 7), .authentication),
        ] as [(LinkSecurity, LinkTrust, InsufficientSecurity?)]
    )
    func lack(needed: LinkSecurity, trust: LinkTrust, lack: InsufficientSecurity?) {
        #expect(trust.missingSecurity(for: LinkRequirement(needed)) == lack)
    }

    @Test(
        "LE Secure Connections needs an authenticated key of 16 octets that was made by them",
        arguments: [
            (trust(.unencrypted), .authentication), (trust(.unencrypted, bonded: true), .encryption),
            (trust(.encrypted), .authentication), (trust(.encrypted, isSecureConnections: true), .authentication),
            (trust(.authenticated), .authentication), (trust(.authenticated, keySize: 7), .authentication),
            (trust(.authenticated, keySize: 15, isSecureConnections: true), .keySize),
            (trust(.authenticated, isSecureConnections: true), nil),
        ] as [(LinkTrust, InsufficientSecurity?)]
    )
    func secureConnections(trust: LinkTrust, lack: InsufficientSecurity?) {
        #expect(trust.missingSecurity(for: .secureConnections) == lack)
    }

    @Test("A host that accepts short keys still requires 16 octets for LE Secure Connections")
    func fullKey() {
        var trust = LinkTrust(.unencrypted)
        trust.secure(.key(.authenticated, keySize: 15, isSecureConnections: true), leastKeySize: 7)
        #expect(trust.missingSecurity(for: LinkRequirement(.authenticated)) == nil)
        #expect(trust.missingSecurity(for: .secureConnections) == .keySize)
    }

    @Test("Missing authorization is reported only if nothing else is missing")
    func authorization() {
        let needed = LinkRequirement(.encrypted, needsAuthorization: true)
        #expect(Self.trust(.unencrypted).missingSecurity(for: needed) == .authentication)
        var trust = Self.trust(.encrypted)
        #expect(trust.missingSecurity(for: needed) == .authorization)
        trust.isAuthorized = true
        #expect(trust.missingSecurity(for: needed) == nil)
    }

    @Test("A missing key is not reported once the link was encrypted")
    func key() {
        var trust = Self.trust(.encrypted)
        trust.secure(nil, leastKeySize: 16)
        #expect(trust.hasKey && trust.missingSecurity(for: .encrypted) == .encryption)
    }
}

extension PairingStrength {
    /// Returns the strength of the key of a link with this security; `nil` if the link is not encrypted.
    static func key(
        _ security: LinkSecurity,
        keySize: Int = 16,
        isSecureConnections: Bool = false
    ) -> Self? {
        guard security > .unencrypted else { return nil }
        return Self(
            keySize: keySize,
            isAuthenticated: security == .authenticated,
            isSecureConnections: isSecureConnections
        )
    }
}
