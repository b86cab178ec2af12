import BLECrypto
import BLEWire
import Testing

@testable import BLEHost

@Suite("A bonded peer that changes its address")
struct PrivatePeerTests {
    let identity = DeviceAddress(0xC0FF_EE00_0001, .random)
    let key = LongTermKey(key: Key128(wire: 0x0102_0304), random: 5, diversifier: 6)
    let resolvingKey = Key128(wire: 0xABCD_EF01_2345_6789)

    /// A rig whose host is bonded with the peer.
    func makeRig() -> (rig: Rig, peer: PeerIdentifier) {
        var bond = Bond(identity: identity, security: .authenticated, longTermKey: key)
        bond.resolvingKey = resolvingKey
        let peer = Rig.ready().discover(identity)
        let record = PeerRecord(identifier: peer, address: identity, bond: bond)
        let rig = Rig.ready(configuration: .init(identifierSecret: 42, knownPeers: [record]))
        rig.forget()
        return (rig, peer)
    }

    @Test("The peer is recognized by its IRK when it connects")
    func central() throws {
        let (rig, peer) = makeRig()
        var random = SeededGenerator(seed: 1)
        for handle in [UInt16(0x40), 0x41] {
            rig.connect(RandomAddress.makeResolvable(key: resolvingKey, using: &random), handle, role: .peripheral)
            rig.forget()
            let link = try #require(ConnectionHandle(wire: handle))
            #expect(rig.host.connection(to: peer) == link)
            rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
            #expect(rig.commands.map(\.opcode) == [.leLongTermKeyRequestReply])
            rig.disconnect(handle)
        }
    }

    @Test("The peer keeps its identifier in scans, whatever its address")
    func scanned() {
        let (rig, peer) = makeRig()
        var random = SeededGenerator(seed: 2)
        for _ in 0..<16 {
            let address = RandomAddress.makeResolvable(key: resolvingKey, using: &random)
            #expect(rig.discover(address) == peer)
        }
        let stranger = RandomAddress.makeResolvable(key: Key128(wire: 1), using: &random)
        #expect(rig.discover(stranger) != peer)
    }

    @Test("The peer is found by scanning, and connected to at its latest address")
    func sought() {
        let (rig, peer) = makeRig()
        var random = SeededGenerator(seed: 3)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(rig.commands.contains { if case .leSetScanEnable(let command) = $0 { command.enable } else { false } })
        for _ in 0..<3 {
            let address = RandomAddress.makeResolvable(key: resolvingKey, using: &random)
            rig.forget()
            rig.hear(.connectable, from: address)
            for _ in 0..<6 {
                rig.advance(by: .seconds(1))
                guard rig.commands.last?.opcode == .leCreateConnectionCancel else { continue }
                rig.connect(.none, status: .unknownConnectionIdentifier)
            }
            #expect(wanted(rig).contains(address))
        }
    }

    /// The addresses that the host has tried to connect to.
    private func wanted(_ rig: Rig) -> [DeviceAddress] {
        rig.commands.compactMap { command in
            switch command {
            case .leCreateConnection(let command): command.peer
            case .leAddDeviceToFilterAcceptList(let command): command.address
            default: nil
            }
        }
    }

    @Test("A peer that was bonded on a link is found at its next address when the link is lost")
    func reconnected() throws {
        let rig = Rig.ready()
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        var random = SeededGenerator(seed: 4)
        let first = RandomAddress.makeResolvable(key: resolvingKey, using: &random)
        let next = RandomAddress.makeResolvable(key: resolvingKey, using: &random)
        let peer = rig.discover(first), link = try #require(ConnectionHandle(wire: 0x40))
        rig.perform(.connect(peer, ConnectRequest(reconnects: true)))
        rig.connect(first)
        var bond = Bond(identity: identity, longTermKey: key)
        bond.resolvingKey = resolvingKey
        rig.host.bonded(link, bond, at: rig.now)
        rig.pump()
        rig.disconnect(reason: .connectionTimeout)
        rig.forget()
        rig.hear(.connectable, from: next)
        for _ in 0..<6 {
            rig.advance(by: .seconds(1))
            guard rig.commands.last?.opcode == .leCreateConnectionCancel else { continue }
            rig.connect(.none, status: .unknownConnectionIdentifier)
        }
        #expect(wanted(rig).contains(next))
    }
}
