import BLEWire
import Testing

@testable import BLEHost

@Suite("Removed bonds")
struct RemovedBondTests {
    private let bonded = EncryptionTests()
    private var link: ConnectionHandle { bonded.link }

    /// What the peer does after the bond was removed and before the controller has ended the link, or this host does.
    private static let deeds: [@Sendable (Rig, ConnectionHandle) -> Void] = [
        { rig, link in
            let attributes = rig.host.layers.attributes.database.attributes
            let handle = attributes.first { $0.type == GATT.clientConfiguration }?.handle ?? .none
            rig.deliver(ATTPacket.writeRequest(.init(handle: handle, value: [2, 0])).encoded, on: .attribute, of: link)
        },
        { rig, _ in
            let service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0xABCD))
            rig.perform(.service(.addService(service)), for: Rig.peripheral)
        },
    ]

    @Test("A removed bond is not stored again by events before the link ends", arguments: 0..<2)
    func forgotten(deed: Int) throws {
        let rig = bonded.makeRig(role: .peripheral)
        let peer = try #require(rig.host.links[link]?.peer)
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        rig.ask(.removeBond(peer))
        #expect(rig.disconnections == [.authenticationFailure])
        Self.deeds[deed](rig, link)
        rig.pump()
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(rig.host.peers.bonds(of: .program).isEmpty)
        #expect(rig.remembered.last?.identifier == peer && rig.remembered.last?.bond == nil)
    }

    @Test("A peer refused because of its bond may pair on the same link once that is removed")
    func pairing() throws {
        let rig = bonded.makeRig(role: .peripheral)
        let peer = try #require(rig.host.links[link]?.peer)
        rig.ask(.setPolicy(PairingPolicy(unattended: .always)))
        var request = SMP.PairingFeatures()
        request.ioCapability = .noInputNoOutput
        request.authentication = [.bonding, .secureConnections]
        request.greatestKeySize = 16
        for expected: [UInt8] in [[0x05, 0x03], [0x02]] {
            rig.forget()
            rig.deliver(SMPPacket.pairingRequest(request).encoded, on: .securityManager, of: link)
            rig.pump()
            let answer = rig.frames.last { $0.channel == .securityManager }?.payload ?? []
            #expect(answer.starts(with: expected))
            rig.ask(.removeBond(peer))
        }
    }

    @Test("Before an adapter is in use, a user can remove only the own bonds with a peer", arguments: 0..<2)
    func users(remover: Int) {
        var record = PeerRecord(identifier: PeerIdentifier(rawValue: 5), address: bonded.address)
        record.bonds = (0..<2).map {
            var bond = Bond(identity: bonded.address, longTermKey: bonded.key)
            (bond.adapter, bond.users) = (DeviceAddress(UInt64($0 + 1), .public), [1001 + UInt32($0)])
            return bond
        }
        let rig = Rig(configuration: .init(identifierSecret: 42, knownPeers: [record])), client = ClientID(rawValue: 9)
        let owner = ClientOwner(user: 1001 + UInt32(remover), process: 1, isAdministrator: false)
        rig.host.open(client, role: .agent, of: owner, at: rig.now)
        rig.perform(.security(.removeBond(record.identifier)), for: client)
        #expect(rig.remembered.map(\.bonds) == [[record.bonds[1 - remover]]])
        #expect(rig.events(of: client).last == .security(.bonds([])))
    }

    @Test("A request for proof of a bond no longer admits a pairing once the bond is removed")
    func requested() throws {
        let rig = bonded.makeRig(role: .peripheral)
        let peer = try #require(rig.host.links[link]?.peer)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(rig.frames.contains { $0.channel == .securityManager })
        rig.perform(.cancelConnection(peer))
        rig.ask(.removeBond(peer))
        rig.forget()
        rig.deliver([0x01, 0x03, 0x00, 0x01, 0x10, 0x03, 0x03], on: .securityManager, of: link)
        rig.pump()
        #expect(rig.frames.filter { $0.channel == .securityManager }.map(\.payload) == [[0x05, 0x05]])
    }

    @Test(
        "Requests waiting for a peer to prove its bond continue once a policy forbids to use the bond",
        arguments: [true, false]
    )
    func unusable(isAskedBefore: Bool) throws {
        let rig = bonded.makeRig(role: .peripheral)
        let peer = try #require(rig.host.links[link]?.peer)
        let ask = {
            rig.perform(.connect(peer, ConnectRequest()))
            rig.perform(.peer(peer, .discoverServices(only: [])))
        }
        if isAskedBefore { ask() }
        rig.ask(.setPolicy(PairingPolicy(requiresSecureConnections: true)))
        if !isAskedBefore { ask() }
        for _ in 0..<60 where !rig.frames.contains(where: { $0.channel == .attribute }) { rig.advance(by: .seconds(1)) }
        #expect(rig.frames.contains { $0.channel == .attribute })
        #expect(rig.disconnections.isEmpty)
    }

    @Test("Requests waiting for a peer to prove its bond continue once the bond is dropped for another one")
    func dropped() throws {
        let other = DeviceAddress(0xC0FF_EE00_0002, .random), second = try #require(ConnectionHandle(wire: 0x41))
        let peer = Rig.ready().discover(bonded.address)
        var bond = Bond(identity: bonded.address, longTermKey: bonded.key), limits = Limits()
        bond.wantedBy = .peer
        limits.unattendedBonds = 1
        let record = PeerRecord(identifier: peer, address: bonded.address, bond: bond)
        let rig = Rig.ready(configuration: .init(identifierSecret: 42, knownPeers: [record], limits: limits))
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        rig.connect(bonded.address, role: .peripheral)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.perform(.peer(peer, .discoverServices(only: [])))
        rig.connect(other, 0x41, role: .peripheral)
        rig.forget()
        var newBond = Bond(identity: other, longTermKey: bonded.key)
        newBond.wantedBy = .peer
        rig.host.bonded(second, newBond, at: rig.now)
        rig.pump()
        #expect(rig.host.peers.bond(with: peer) == nil)
        #expect(rig.frames.contains { $0.link == link && $0.channel == .attribute })
    }

    @Test("Requests waiting for a peer to prove its bond continue once the bond is removed", arguments: [true, false])
    func goingOn(isAskedBefore: Bool) throws {
        let rig = bonded.makeRig(role: .peripheral)
        let peer = try #require(rig.host.links[link]?.peer)
        let ask = {
            rig.perform(.connect(peer, ConnectRequest()))
            rig.perform(.peer(peer, .discoverServices(only: [])))
        }
        if isAskedBefore { ask() }
        #expect(!rig.frames.contains { $0.channel == .attribute })
        rig.ask(.removeBond(peer))
        if !isAskedBefore { ask() }
        #expect(rig.frames.contains { $0.channel == .attribute })
        #expect(rig.disconnections.isEmpty)
    }
}
