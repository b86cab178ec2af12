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
