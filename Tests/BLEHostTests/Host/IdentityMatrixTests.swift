import BLECrypto
import BLEWire
import Testing

@testable import BLEHost

/// Each address that a peer may pair at, with each use that this host makes of addresses.
@Suite("Identities proved by the address during pairing")
struct IdentityMatrixTests {
    /// The address that the peer has on the air, and what it proves of the identity that the peer sends.
    enum Proof: CaseIterable {
        case publicAddress, staticAddress
        /// A private address that the key resolves which the peer sends.
        case resolved
        /// A private address that the key of another bonded peer resolves.
        case ofAnother
        /// A private address that no key resolves.
        case claimedOnly
    }

    /// What this host does by the address of a peer.
    enum Use: CaseIterable { case sighting, connection, restoration, keptDatabase, keptName }

    /// Whose address the peer sends.
    enum Sent: CaseIterable {
        case own
        /// That of a device that this host has seen before.
        case ofSeen
        /// That of a device that is seen later.
        case ofUnseen
    }

    /// How the bond got there.
    enum Origin: CaseIterable {
        case pairing
        /// An earlier version stored what the peer had sent.
        case earlierVersion
    }

    static let victim = DeviceAddress(0xF0AA_AAAA_AAAA, .random)
    static let ownKey = Key128(wire: 0x6666), otherKey = Key128(wire: 0x7777)
    static let other = DeviceAddress(0xF077_7777_7777, .random)
    static let cases = Proof.allCases.flatMap { proof in Use.allCases.map { (proof, $0) } }

    /// A private address that a key makes; another one for each number.
    static func made(with key: Key128, _ number: UInt64) -> DeviceAddress {
        var random = SeededGenerator(seed: number)
        return RandomAddress.makeResolvable(key: key, using: &random)
    }

    /// Where the peer is when it pairs.
    static func address(_ proof: Proof) -> DeviceAddress {
        switch proof {
        case .publicAddress: DeviceAddress(0x0000_6666_6666, .public)
        case .staticAddress: DeviceAddress(0xF066_6666_6666, .random)
        case .resolved: made(with: ownKey, 1)
        case .ofAnother: made(with: otherKey, 2)
        case .claimedOnly: made(with: Key128(wire: 0x8888), 3)
        }
    }

    /// Where the peer is known from then on.
    static func places(_ proof: Proof) -> [DeviceAddress] {
        switch proof {
        case .publicAddress, .staticAddress: [address(proof), made(with: ownKey, 4)]
        case .resolved: [address(proof), made(with: ownKey, 5)]
        // It has paired as the other peer, whose key it cannot have.
        case .ofAnother: [other]
        case .claimedOnly: [address(proof)]
        }
    }

    /// Where it is not known.
    static func foreignPlaces(_ proof: Proof) -> [DeviceAddress] {
        switch proof {
        case .publicAddress, .staticAddress, .resolved: [victim]
        case .ofAnother, .claimedOnly: [victim, made(with: ownKey, 6)]
        }
    }

    private static func identity(_ sent: Sent, _ proof: Proof) -> DeviceAddress {
        switch sent {
        case .ofSeen, .ofUnseen: victim
        case .own:
            switch proof {
            case .publicAddress, .staticAddress: address(proof)
            case .resolved, .ofAnother, .claimedOnly: DeviceAddress(0xF012_3456_789A, .random)
            }
        }
    }

    private static func bond(_ identity: DeviceAddress, isLegacy: Bool) -> Bond {
        let name: (UInt64, UInt16) = isLegacy ? (5, 6) : (0, 0)
        let key = LongTermKey(key: Key128(wire: 0x0102_0304), random: name.0, diversifier: name.1)
        var bond = Bond(identity: identity, longTermKey: key)
        bond.isSecureConnections = !isLegacy
        bond.resolvingKey = ownKey
        bond.database = CachedDatabase(hash: 7, attributes: KnownAttributes())
        return bond
    }

    /// A host that is bonded with a peer.
    private struct Scene {
        var rig: Rig
        let peer: PeerIdentifier
        let controller: FakeController
        let configuration: Host.Configuration
        private let left: [PeerRecord]

        init(_ proof: Proof, _ sent: Sent, _ origin: Origin, _ role: HCI.Role, isLegacy: Bool, isPrivate: Bool) throws {
            var controller = isPrivate ? FakeController.new : .old
            if isPrivate { for opcode in FakeController.resolving { controller.commands.insert(opcode) } }
            self.controller = controller
            var otherBond = Bond(identity: other, longTermKey: LongTermKey(key: Key128(wire: 1)))
            otherBond.resolvingKey = otherKey
            let otherRecord = PeerRecord(identifier: PeerIdentifier(rawValue: 77), address: other, bond: otherBond)
            let bond = bond(identity(sent, proof), isLegacy: isLegacy)
            configuration = .init(identifierSecret: 42, knownPeers: [otherRecord], isPrivate: isPrivate)
            var made = Rig.ready(controller, configuration: configuration)
            if sent == .ofSeen { _ = made.discover(victim) }
            switch origin {
            case .pairing:
                peer = try Self.pair(made, at: address(proof), bond, role)
                left = [otherRecord] + made.remembered
            case .earlierVersion:
                peer = made.discover(address(proof))
                var record = otherRecord
                if peer != otherRecord.identifier {
                    record = PeerRecord(identifier: peer, address: address(proof), name: "Stranger")
                }
                record.name = "Stranger"
                record.bond = bond
                left = [otherRecord, record]
                made = Self.start(controller, configuration, left)
            }
            rig = made
        }

        private static func pair(
            _ rig: Rig,
            at address: DeviceAddress,
            _ bond: Bond,
            _ role: HCI.Role
        ) throws -> PeerIdentifier {
            if role == .central { rig.perform(.connect(rig.discover(address), ConnectRequest())) }
            rig.connect(address, 0x41, role: role)
            let handle = try #require(ConnectionHandle(wire: 0x41)), peer = try #require(rig.host.links[handle]?.peer)
            let outcome = PairingOutcome(method: .justWorks, strength: bond.strength, bond: bond)
            rig.host.paired(outcome, with: peer, on: handle, at: rig.now)
            let change = rig.host.peers.read("Stranger", from: peer)
            rig.host.remember(change)
            rig.pump()
            if role == .central { rig.perform(.cancelConnection(peer)) }
            rig.disconnect(0x41)
            return peer
        }

        private static func start(
            _ controller: FakeController,
            _ configuration: Host.Configuration,
            _ left: [PeerRecord]
        ) -> Rig {
            var peers = KnownPeers(limit: 16)
            for record in left { _ = peers.remember(record) }
            var next = configuration
            next.knownPeers = peers.all
            return .ready(controller, configuration: next)
        }

        /// The host of the next run.
        func restarted() -> Rig { Self.start(controller, configuration, left + rig.remembered) }
    }

    private static func link(_ rig: Rig, at address: DeviceAddress) throws -> (peer: PeerIdentifier, bond: Bond?) {
        rig.connect(address, 0x42, role: .peripheral)
        let handle = try #require(ConnectionHandle(wire: 0x42))
        let link = try #require(rig.host.links[handle])
        let client = try #require(rig.host.layers.attributes.links.first { $0.handle == handle }).client
        rig.disconnect(0x42)
        return (link.peer, client.bond.stored)
    }

    /// The addresses that the controller was told to call, or to accept.
    private static func called(_ rig: Rig) -> [DeviceAddress] {
        rig.commands.compactMap { command in
            switch command {
            case .leCreateConnection(let command): command.peer
            case .leExtendedCreateConnection(let command): command.peer
            case .leAddDeviceToFilterAcceptList(let command): command.address
            default: nil
            }
        }
    }

    /// Whether a use of an address attributes it to the peer.
    private static func isTaken(_ address: DeviceAddress, for scene: Scene, by use: Use) throws -> Bool {
        let rig = scene.rig
        switch use {
        case .sighting: return rig.discover(address) == scene.peer
        case .connection:
            let peer = rig.discover(address)
            rig.forget()
            rig.perform(.connect(peer, ConnectRequest()))
            #expect(!called(rig).isEmpty || peer == scene.peer, "a device that was seen is called where it was")
            if peer != scene.peer { #expect(called(rig) == [address]) }
            rig.connect(address, 0x43)
            let handle = try #require(ConnectionHandle(wire: 0x43)), link = try #require(rig.host.links[handle])
            #expect(link.peer == peer && !link.isClosing, "the connection is for the app that asked for it")
            return link.peer == scene.peer
        case .restoration:
            let seen = rig.discover(address)
            rig.perform(.connect(seen, ConnectRequest()))
            let next = scene.restarted()
            next.forget()
            next.perform(.connect(seen, ConnectRequest()))
            if seen != scene.peer { #expect(called(next) == [address]) }
            let peer = try link(next, at: address).peer
            #expect(peer == seen)
            return peer == scene.peer
        case .keptDatabase: return try link(rig, at: address).bond?.database != nil
        case .keptName:
            let peer = rig.discover(address)
            return rig.host.peers.name(of: peer) == "Stranger"
        }
    }

    @Test("No data is attributed to a peer at an address that it has not proved", arguments: cases)
    func matrix(proof: Proof, use: Use) throws {
        for sent in Sent.allCases {
            for origin in Origin.allCases where origin == .pairing || proof != .ofAnother {
                for (role, isLegacy, isPrivate) in [
                    (HCI.Role.central, false, false), (.peripheral, false, true), (.central, true, true),
                    (.peripheral, true, false),
                ] {
                    func scene() throws -> Scene {
                        try Scene(proof, sent, origin, role, isLegacy: isLegacy, isPrivate: isPrivate)
                    }
                    let comment: Comment = "\(sent), \(origin), \(role), legacy \(isLegacy), private \(isPrivate)"
                    for place in Self.foreignPlaces(proof) where origin == .pairing || place == Self.victim {
                        #expect(try !Self.isTaken(place, for: scene(), by: use), comment)
                    }
                    for place in Self.places(proof) {
                        #expect(try Self.isTaken(place, for: scene(), by: use), comment)
                    }
                }
            }
        }
    }

    @Test("Connecting to a peer never uses an address that it has only claimed", arguments: Proof.allCases)
    func calls(proof: Proof) throws {
        for sent in Sent.allCases {
            for origin in Origin.allCases {
                for isPrivate in [false, true] {
                    let scene = try Scene(proof, sent, origin, .peripheral, isLegacy: false, isPrivate: isPrivate)
                    scene.rig.forget()
                    scene.rig.perform(.connect(scene.peer, ConnectRequest()))
                    scene.rig.hear(.connectable, from: Self.victim)
                    scene.rig.advance(by: .seconds(3))
                    #expect(!Self.called(scene.rig).contains(Self.victim))
                }
            }
        }
    }

    @Test("The resolving list never has an address that a peer has only claimed", arguments: Proof.allCases)
    func resolvingList(proof: Proof) throws {
        for sent in Sent.allCases {
            for origin in Origin.allCases {
                let scene = try Scene(proof, sent, origin, .peripheral, isLegacy: false, isPrivate: true)
                let entries = scene.rig.commands.compactMap { command in
                    if case .leAddDeviceToResolvingList(let entry) = command { entry } else { nil }
                }
                #expect(entries.allSatisfy { $0.identity != Self.victim })
                guard let entry = entries.last(where: { $0.peerKey == Self.ownKey }) else {
                    #expect(proof == .ofAnother || proof == .claimedOnly)
                    continue
                }
                let isRandom = entry.identity.kind == .random
                let resolved = DeviceAddress(entry.identity.value, isRandom ? .randomIdentity : .publicIdentity)
                // Some controllers report what they have resolved without saying that they have.
                for address in [resolved, resolved.onAir] {
                    scene.rig.perform(.scan(ScanRequest()))
                    scene.rig.forget()
                    scene.rig.hear(.connectable, from: address)
                    scene.rig.hear(.connectable, from: Self.victim)
                    scene.rig.advance(by: .milliseconds(20))
                    let peers = scene.rig.discoveries().map(\.peer)
                    #expect(peers.count == 2 && peers.first == scene.peer && peers.last != scene.peer)
                    let shown = try #require(scene.rig.discoveries().first).address.onAir
                    #expect([Self.address(proof), Self.other].contains(shown), "what an app sees was on the air")
                }
            }
        }
    }
}
