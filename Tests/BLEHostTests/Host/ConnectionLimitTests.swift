import BLEHost
import BLEWire
import Testing

@Suite("Connection limits")
struct ConnectionLimitTests {
    private let connecting = ConnectingTests()

    @Test("A connection timeout that is not positive expires immediately", arguments: [Int64.min, -1, 0])
    func patience(nanoseconds: Int64) {
        let rig = connecting.makeRig(), peer = rig.discover(connecting.address)
        var request = ConnectRequest()
        request.timeout = .nanoseconds(nanoseconds)
        rig.perform(.connect(peer, request))
        #expect(rig.host.deadline.map { $0 <= rig.now } ?? true)
        rig.advance(by: .nanoseconds(1))
        #expect(connecting.connections(rig) == [.connectFailed(peer, .timedOut)])
    }

    @Test("A client at its limit of pending peers leaves room for others, and has room again when one is gone")
    func share() {
        var configuration = Host.Configuration(identifierSecret: 1)
        configuration.limits.pendingPeers = 3
        configuration.limits.pendingPeersOfClient = 2
        let rig = Rig.ready(configuration: configuration)
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.pump()
        let peers = (0..<4).map { rig.discover(DeviceAddress(0xC000_0000_1000 + UInt64($0), .random)) }
        for peer in peers.prefix(3) { rig.perform(.connect(peer, ConnectRequest())) }
        #expect(connecting.connections(rig) == [.connectFailed(peers[2], .limitReached)])
        #expect(rig.notes.contains(.limitReached(.pendingPeersOfClient)))
        rig.forget()
        rig.perform(.connect(peers[2], ConnectRequest()), for: Rig.otherCentral)
        #expect(rig.events(of: Rig.otherCentral).isEmpty)
        rig.perform(.connect(peers[3], ConnectRequest()), for: Rig.otherCentral)
        #expect(rig.events(of: Rig.otherCentral) == [.connectFailed(peers[3], .limitReached)])
        #expect(rig.notes.contains(.limitReached(.pendingPeers)))
        rig.perform(.cancelConnection(peers[0]))
        rig.forget()
        rig.perform(.connect(peers[3], ConnectRequest()))
        #expect(connecting.connections(rig).isEmpty)
    }

    @Test("A host at its limit of links accepts no further connections")
    func full() {
        var configuration = Host.Configuration(identifierSecret: 1)
        configuration.limits.links = 1
        let rig = Rig.ready(configuration: configuration)
        let peer = rig.discover(connecting.other)
        rig.connect(connecting.address, role: .peripheral)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(connecting.connections(rig) == [.connectFailed(peer, .limitReached)])
        rig.connect(connecting.other, 0x41, role: .peripheral)
        guard case .disconnect(let disconnect) = rig.commands.last else { return #expect(Bool(false)) }
        #expect(disconnect.handle.wire == 0x41)
    }
}
