import BLEWire
import Testing

@testable import BLEHost

/// Two links to the same address; the bonded device may be at the other end of only one of them.
@Suite("Pairing on a second link to a peer")
struct SecondLinkPairingTests {
    private static let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    private static let first = ConnectionHandle(wire: 0x40) ?? .lowest
    private static let second = ConnectionHandle(wire: 0x41) ?? .lowest
    private static let request: [UInt8] = [0x01, 0x03, 0x00, 0x09, 0x10, 0x00, 0x00]

    private func makeRig() throws -> (Rig, PeerIdentifier) {
        let rig = Rig.ready()
        rig.ask(.setPolicy(PairingPolicy(unattended: .always)))
        for handle in [Self.first, Self.second] { rig.connect(Self.address, handle.wire, role: .peripheral) }
        return (rig, try #require(rig.host.links[Self.second]?.peer))
    }

    /// Returns the result of a pairing whose keys contain `number`.
    private func outcome(_ number: UInt128, _ method: PairingMethod) -> PairingOutcome {
        var bond = Bond(
            identity: Self.address,
            security: method.isAuthenticated ? .authenticated : .encrypted,
            longTermKey: LongTermKey(key: Key128(wire: number))
        )
        bond.isSecureConnections = true
        return PairingOutcome(method: method, strength: bond.strength, bond: bond)
    }

    private func pair(_ rig: Rig, _ outcome: PairingOutcome, on link: ConnectionHandle) {
        guard let peer = rig.host.links[link]?.peer else { return }
        rig.host.paired(outcome, with: peer, on: link, at: rig.now)
        rig.pump()
    }

    private func deliver(_ packet: [UInt8], to rig: Rig) -> [UInt8]? {
        rig.forget()
        rig.deliver(packet, on: .securityManager, of: Self.second)
        rig.pump()
        return rig.frames.last { $0.channel == .securityManager }?.payload
    }

    @Test(
        "A pairing does not replace a bond that another link made after the pairing began",
        arguments: [PairingMethod.justWorks, .numericComparison]
    )
    func meanwhile(method: PairingMethod) throws {
        let (rig, peer) = try makeRig()
        #expect(deliver(Self.request, to: rig)?.first == 0x02)
        pair(rig, outcome(1, method), on: Self.first)
        rig.forget()
        pair(rig, outcome(2, .justWorks), on: Self.second)
        #expect(rig.host.peers.bond(with: peer)?.longTermKey?.key == Key128(wire: 1))
        #expect(rig.notes == [.bondNotReplaced(Self.second)])
    }

    @Test("A pairing that begins after a bond was made over another link must be as strong as the bond")
    func afterwards() throws {
        let (rig, _) = try makeRig()
        // Any packet creates the security manager of the second link.
        #expect(deliver([0x05, 0x08], to: rig) == nil)
        pair(rig, outcome(1, .numericComparison), on: Self.first)
        #expect(deliver(Self.request, to: rig) == [0x05, 0x03])
    }

    @Test("A weaker pairing never replaces a bond, and an equal one on the same link does")
    func strength() throws {
        let (rig, peer) = try makeRig()
        pair(rig, outcome(1, .numericComparison), on: Self.first)
        pair(rig, outcome(2, .justWorks), on: Self.first)
        #expect(rig.host.peers.bond(with: peer)?.longTermKey?.key == Key128(wire: 1))
        pair(rig, outcome(3, .numericComparison), on: Self.first)
        #expect(rig.host.peers.bond(with: peer)?.longTermKey?.key == Key128(wire: 3))
    }
}
