import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part A, 4.23 and 4.26; Part C, 10.3.1.
@Suite("Channels that require a secure link")
struct ProtectedChannelTests {
    /// A kind of link, and why it is refused what needs something.
    struct Link: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var security = LinkSecurity.unencrypted
        var keySize = 16
        var isBonded = false
        var isAuthorized = false
        /// What is answered where encryption, an authenticated key, and encryption with an authorisation are needed.
        let results: [Signal.ConnectionResult]

        init(
            _ name: String,
            _ security: LinkSecurity,
            keySize: Int = 16,
            isBonded: Bool = false,
            isAuthorized: Bool = false,
            _ results: [Signal.ConnectionResult]
        ) {
            testDescription = name
            (self.security, self.keySize, self.results) = (security, keySize, results)
            (self.isBonded, self.isAuthorized) = (isBonded, isAuthorized)
        }
    }

    static let needs = [
        LinkRequirement.encrypted, .init(.authenticated), .init(.encrypted, needsAuthorization: true),
    ]

    private static let authentication = Signal.ConnectionResult.insufficientAuthentication
    private static let encryption = Signal.ConnectionResult.insufficientEncryption
    private static let keySize = Signal.ConnectionResult.encryptionKeySizeTooShort
    private static let authorization = Signal.ConnectionResult.insufficientAuthorization

    static let links: [Link] = [
        .init("no key", .unencrypted, [authentication, authentication, authentication]),
        .init(
            "no key, authorised",
            .unencrypted,
            isAuthorized: true,
            [authentication, authentication, authentication]
        ),
        .init("a key that is not used", .unencrypted, isBonded: true, [encryption, encryption, encryption]),
        .init("encrypted", .encrypted, [.success, authentication, authorization]),
        .init("encrypted, authorised", .encrypted, isAuthorized: true, [.success, authentication, .success]),
        .init("a short key", .encrypted, keySize: 8, isBonded: true, [keySize, authentication, keySize]),
        .init("the shortest key", .encrypted, keySize: 9, [.success, authentication, authorization]),
        .init("authenticated", .authenticated, [.success, .success, authorization]),
        .init("authenticated with a short key", .authenticated, keySize: 7, [keySize, keySize, keySize]),
    ]

    /// A layer with this link, on which what needs `needed` is published.
    private func makeBench(_ link: Link, _ needed: LinkRequirement) -> LoneChannels {
        var bench = LoneChannels()
        if link.isBonded { bench.trust.bondAdded() }
        if link.security > .unencrypted {
            bench.trust.secure(.key(link.security, keySize: link.keySize), leastKeySize: 9)
        }
        bench.trust.isAuthorized = link.isAuthorized
        bench.layer.publish(needed, for: LoneChannels.server)
        _ = bench.drain()
        return bench
    }

    @Test("A request for one channel is refused with what the link lacks", arguments: links)
    func single(link: Link) {
        for (needed, result) in zip(Self.needs, link.results) {
            var bench = makeBench(link, needed)
            let spsm = bench.layer.latestSPSM
            let request = Signal.LECreditBasedConnectionRequest(
                spsm: spsm,
                source: ChannelIdentifier(wire: 0x40),
                mtu: 23,
                mps: 23,
                credits: 0
            )
            let answers = bench.answers(to: .leCreditBasedConnectionRequest(request))
            guard case .leCreditBasedConnectionResponse(let response)? = answers.first, answers.count == 1 else {
                return #expect(Bool(false), "\(answers)")
            }
            #expect(response.result == result)
            #expect(bench.accepted.map(\.psm) == (result == .success ? [spsm] : []))
        }
    }

    @Test("A request for several channels is refused for all of them with what the link lacks", arguments: links)
    func several(link: Link) {
        for (needed, result) in zip(Self.needs, link.results) {
            var bench = makeBench(link, needed)
            let spsm = bench.layer.latestSPSM
            let sources = [0x40, 0x41].map { ChannelIdentifier(wire: $0) }
            let request = Signal.CreditBasedConnectionRequest(
                spsm: spsm,
                mtu: 64,
                mps: 64,
                credits: 1,
                sources: sources
            )
            let answers = bench.answers(to: .creditBasedConnectionRequest(request))
            guard case .creditBasedConnectionResponse(let response)? = answers.first, answers.count == 1 else {
                return #expect(Bool(false), "\(answers)")
            }
            #expect(response.result == result)
            #expect(response.destinations.allSatisfy { ($0 != .none) == (result == .success) })
            #expect(bench.accepted.count == (result == .success ? 2 : 0))
        }
    }
}
