import BLECrypto
import BLEWire
import Testing

@testable import BLEHost

@Suite("Proof of identity")
struct ProvedIdentityTests {
    private static let key = Key128(wire: 0x11)
    private static let claimed = DeviceAddress(0xC0FF_EE00_0001, .random)
    private static let publicAddress = DeviceAddress(5, .public)

    private static func made(_ seed: UInt64, _ key: Key128 = key) -> DeviceAddress {
        var random = SeededGenerator(seed: seed)
        return RandomAddress.makeResolvable(key: key, using: &random)
    }

    private static func bond(_ identity: DeviceAddress, _ key: Key128? = key) -> Bond {
        var bond = Bond(identity: identity, longTermKey: LongTermKey(key: Key128(wire: 1)))
        bond.resolvingKey = key
        return bond
    }

    static let proofs: [(onAir: DeviceAddress, key: Key128?, IdentityProof)] = [
        (claimed, key, .usedAsAddress), (claimed, nil, .usedAsAddress), (publicAddress, key, .none),
        (publicAddress, nil, .none),
        (DeviceAddress(claimed.value, .public), key, .none), (DeviceAddress(0xC000_0000_0002, .random), key, .none),
        (made(1), key, .resolved), (made(1), Key128(wire: 0x12), .contradicted), (made(1), nil, .none),
        (DeviceAddress(0x0012_3456_789A, .random), key, .none), (DeviceAddress(0x8012_3456_789A, .random), key, .none),
    ]

    @Test("An identity is proved by the over-the-air address, or by an IRK that made it", arguments: proofs)
    func proof(onAir: DeviceAddress, key: Key128?, expected: IdentityProof) {
        let bond = Self.bond(Self.claimed, key)
        #expect(IdentityProof(of: bond, on: onAir) == expected)
        for (isTaken, isKeyTaken) in [(false, false), (true, false), (false, true), (true, true)] {
            let proved = bond.proved(on: onAir, isTaken: isTaken, isKeyTaken: isKeyTaken)
            let isBelieved: Bool
            switch expected {
            case .usedAsAddress: isBelieved = true
            case .resolved: isBelieved = !isTaken
            case .contradicted, .none: isBelieved = false
            }
            #expect(proved.identity == (isBelieved ? Self.claimed : onAir))
            #expect(proved.resolvingKey == (isKeyTaken || expected == .contradicted ? nil : key))
        }
    }

    private static func record(_ number: UInt128, _ address: DeviceAddress, _ bond: Bond?) -> PeerRecord {
        PeerRecord(identifier: PeerIdentifier(rawValue: number), address: address, bond: bond)
    }

    @Test("An identity stored by an earlier version is valid only as far as the address stored with it")
    func earlierVersion() {
        var record = Self.record(1, Self.publicAddress, Self.bond(Self.claimed))
        var second = Self.bond(Self.claimed)
        second.adapter = DeviceAddress(9, .public)
        record.bonds += [second]
        let peers = KnownPeers([Self.record(2, Self.claimed, nil), record], limit: 4)
        #expect(peers.identifier(at: Self.claimed) == PeerIdentifier(rawValue: 2))
        #expect(peers.identifier(at: Self.publicAddress) == record.identifier)
        #expect(peers[record.identifier]?.bonds.map(\.identity) == [Self.publicAddress, Self.publicAddress])
    }

    @Test("The bond of a peer that the table has dropped is stored")
    func dropped() {
        var limits = Limits()
        limits.advertisers = 2
        var table = PeerTable(secret: 1, records: [], limits: limits)
        let peer = table.identifier(of: Self.publicAddress)
        for number: UInt64 in 6...8 { _ = table.identifier(of: DeviceAddress(number, .public)) }
        let (_, change) = table.paired(peer, Self.bond(Self.publicAddress), at: Self.publicAddress, isInUse: false)
        #expect(change == table.bond(with: peer).map { .remember(Self.record(peer.rawValue, Self.publicAddress, $0)) })
    }

    @Test("A private address that resolves with the IRKs of several peers belongs to none of them")
    func sameKey() {
        let one = Self.record(1, Self.publicAddress, Self.bond(Self.publicAddress))
        let other = Self.record(2, Self.claimed, Self.bond(Self.claimed))
        var peers = KnownPeers([one], limit: 4)
        #expect(peers.owner(of: Self.made(3)) == one.identifier)
        _ = peers.remember(other)
        #expect(peers.owner(of: Self.made(3)) == nil)
        #expect(peers.resolvablePeer(one, secret: 1) == nil && peers.resolvablePeer(other, secret: 1) == nil)
    }

    @Test("The second peer that sends the same IRK is bonded without it")
    func takenKey() {
        var table = PeerTable(secret: 1, records: [], limits: Limits())
        table.use(DeviceAddress(0xA, .public))
        let first = table.identifier(of: Self.publicAddress), second = table.identifier(of: Self.claimed)
        _ = table.paired(first, Self.bond(Self.publicAddress), at: Self.publicAddress, isInUse: false)
        let (bond, _) = table.paired(second, Self.bond(Self.claimed), at: Self.claimed, isInUse: false)
        #expect(bond.resolvingKey == nil && bond.identity == Self.claimed)
        #expect(table.identifier(of: Self.made(4)) == first)
        #expect(table.bond(with: second)?.resolvingKey == nil && table.bonds(of: .program).count == 2)
    }

    @Test("A claimed address is shown for a peer until another peer is known there")
    func contested() {
        var table = PeerTable(secret: 1, records: [], limits: Limits())
        let onAir = Self.made(5), peer = table.identifier(of: onAir)
        _ = table.paired(peer, Self.bond(Self.claimed), at: onAir, isInUse: false)
        #expect(table.bonds(of: .program).map(\.identity) == [Self.claimed])
        let other = table.identifier(of: Self.claimed)
        #expect(other != peer)
        _ = table.wanted(other)
        #expect(table.bonds(of: .program).map(\.identity) == [onAir])
    }

    @Test("A peer may not claim an address at which another was seen, used or bonded, or that another claims")
    func known() {
        let prepare: [(inout PeerTable) -> Void] = [
            { _ = $0.identifier(of: Self.claimed) },
            { table in
                let other = table.identifier(of: Self.claimed)
                _ = table.wanted(other)
            },
            { table in
                let other = table.identifier(of: Self.claimed)
                _ = table.paired(other, Self.bond(Self.claimed, nil), at: Self.claimed, isInUse: false)
            },
            { table in
                let onAir = Self.made(6, Key128(wire: 0x12)), other = table.identifier(of: onAir)
                _ = table.paired(other, Self.bond(Self.claimed, Key128(wire: 0x12)), at: onAir, isInUse: false)
            },
        ]
        for step in prepare {
            var table = PeerTable(secret: 1, records: [], limits: Limits())
            step(&table)
            let before = table.bonds(of: .program), onAir = Self.made(7), peer = table.identifier(of: onAir)
            let (bond, _) = table.paired(peer, Self.bond(Self.claimed), at: onAir, isInUse: false)
            #expect(bond.identity == onAir && bond.resolvingKey == Self.key)
            #expect(
                Array(table.bonds(of: .program).prefix(before.count)) == before,
                "what is kept of the others is as it was"
            )
            #expect(table.identifier(of: Self.made(8)) == peer)
        }
        var table = PeerTable(secret: 1, records: [], limits: Limits())
        let onAir = Self.made(7), peer = table.identifier(of: onAir)
        #expect(table.paired(peer, Self.bond(Self.claimed), at: onAir, isInUse: true).bond.identity == onAir)
    }

    @Test("A peer whose IRK was removed is connected to at its stored address")
    func keyIsGone() {
        var table = PeerTable(secret: 1, records: [], limits: Limits())
        let peer = table.identifier(of: Self.claimed)
        _ = table.paired(peer, Self.bond(Self.claimed), at: Self.claimed, isInUse: false)
        #expect(table.identifier(of: Self.made(9)) == peer)
        #expect(table.address(of: peer) == Self.made(9))
        _ = table.unbonded(peer, for: .program)
        #expect(table.address(of: peer) == Self.claimed)
    }

    @Test("A placeholder on the resolving list is a random static address that only this host can generate")
    func placeholder() {
        let addresses = (UInt128(1)...100).map { HostIdentity.placeholder(for: $0, secret: 7) }
        #expect(addresses.allSatisfy { $0.isIdentity && $0.kind == .random })
        #expect(Set(addresses).count == 100)
        #expect(
            Set(addresses).isDisjoint(with: (UInt128(1)...100).map { HostIdentity.placeholder(for: $0, secret: 8) })
        )
        #expect(addresses[0] == HostIdentity.placeholder(for: 1, secret: 7))
    }

    /// A private host whose controller resolves addresses, bonded with a peer that has only shown private ones.
    private static func makeRig() throws -> (rig: Rig, peer: PeerIdentifier, listed: DeviceAddress) {
        var controller = FakeController.new
        for opcode in FakeController.resolving { controller.commands.insert(opcode) }
        let bonded = record(3, made(10), bond(claimed)), stranger = record(4, made(11), nil)
        let configuration = Host.Configuration(
            identifierSecret: 42,
            knownPeers: [stranger, bonded],
            isPrivate: true
        )
        let rig = Rig.ready(controller, configuration: configuration)
        let entries = rig.commands.compactMap { command in
            if case .leAddDeviceToResolvingList(let entry) = command { entry } else { nil }
        }
        return (rig, bonded.identifier, try #require(entries.first).identity)
    }

    static let links: [(onAir: DeviceAddress, peer: UInt128?)] = [
        (made(12), 3), (made(10), 3),
        // An app may wait for the peer that it has seen there.
        (made(11), 4),
        // No key of the bond made it, whatever the controller says.
        (made(13, Key128(wire: 0x99)), nil),
    ]

    @Test(
        "A link belongs to a bonded peer if its IRK made the address that the controller resolved",
        arguments: links,
        [DeviceAddress.Kind.randomIdentity, .random]
    )
    func resolvedLink(link: (onAir: DeviceAddress, peer: UInt128?), kind: DeviceAddress.Kind) throws {
        let (onAir, peer) = link
        let (rig, _, listed) = try Self.makeRig()
        let handle = try #require(ConnectionHandle(wire: 0x40))
        rig.inject(
            .leEnhancedConnectionComplete(
                .init(
                    status: .success,
                    handle: handle,
                    role: .peripheral,
                    peer: DeviceAddress(listed.value, kind),
                    localPrivateAddress: .none,
                    peerPrivateAddress: onAir,
                    interval: .init(wire: 24),
                    latency: .init(wire: 0),
                    timeout: .init(wire: 200)
                )
            )
        )
        let made = try #require(rig.host.links[handle])
        if let peer { #expect(made.peer.rawValue == peer) } else { #expect(![3, 4].contains(made.peer.rawValue)) }
        #expect(made.address == onAir && made.onAir.peer == onAir)
    }

    @Test("A peer that has shown only private addresses is connected to by its placeholder on the resolving list")
    func calledByName() throws {
        let (rig, peer, listed) = try Self.makeRig()
        #expect(listed != Self.claimed)
        rig.forget()
        rig.perform(.connect(peer, ConnectRequest()))
        let called = rig.commands.compactMap { command in
            if case .leExtendedCreateConnection(let command) = command { command.peer } else { nil }
        }
        #expect(called == [listed])
    }
}
