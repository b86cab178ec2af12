import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part C, 10.3.1.
@Suite("Missing link security")
struct LinkTrustTests {
    static func trust(_ security: LinkSecurity, bonded: Bool = false, keySize: Int = 16) -> LinkTrust {
        var trust = LinkTrust(.unencrypted)
        if bonded { trust.bondAdded() }
        trust.secure(security, keySize: keySize, leastKeySize: 16)
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
        trust.secure(.unencrypted, keySize: 0, leastKeySize: 16)
        #expect(trust.hasKey && trust.missingSecurity(for: .encrypted) == .encryption)
    }
}
