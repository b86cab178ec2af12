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

    /// A host with room for one link.
    private func makeSmallRig() -> Rig {
        var configuration = Host.Configuration(identifierSecret: 1)
        configuration.limits.links = 1
        let rig = Rig.ready(configuration: configuration)
        rig.peer = connecting.makeRig().peer
        return rig
    }

    @Test("A request fails once for lack of links; repeated, it waits until a link ends")
    func once() {
        let rig = makeSmallRig(), peer = rig.discover(connecting.other)
        rig.connect(connecting.address, role: .peripheral)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(connecting.connections(rig) == [.connectFailed(peer, .limitReached)])
        rig.forget()
        rig.perform(.connect(peer, ConnectRequest()))
        rig.advance(by: .seconds(60))
        #expect(connecting.connections(rig).isEmpty)
        #expect(!rig.commands.contains { $0.opcode == .leCreateConnection })
        rig.disconnect()
        #expect(rig.commands.last?.opcode == .leCreateConnection)
        rig.connect(connecting.other)
        #expect(connecting.connections(rig) == [.connected(peer, LinkParameters(mtu: 185))])
        rig.disconnect()
        rig.connect(connecting.address, role: .peripheral)
        rig.forget()
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(connecting.connections(rig) == [.connectFailed(peer, .limitReached)])
    }

    @Test("Pending requests fail when the last link is made, except those that reconnect by themselves")
    func pending() {
        let rig = makeSmallRig()
        let peers = (0..<3).map { rig.discover(DeviceAddress(0xC000_0000_1000 + UInt64($0), .random)) }
        rig.perform(.connect(peers[0], ConnectRequest()))
        rig.perform(.connect(peers[1], ConnectRequest(reconnects: true)))
        rig.connect(.none, status: .unknownConnectionIdentifier)
        var delayed = ConnectRequest()
        delayed.startDelay = .seconds(5)
        rig.perform(.connect(peers[2], delayed))
        rig.forget()
        rig.connect(connecting.address, role: .peripheral)
        #expect(connecting.connections(rig) == [.connectFailed(peers[0], .limitReached)])
        #expect(rig.notes.count { $0 == .limitReached(.links) } == 1)
        rig.forget()
        rig.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(connecting.connections(rig).isEmpty)
        rig.advance(by: .nanoseconds(1))
        #expect(connecting.connections(rig) == [.connectFailed(peers[2], .limitReached)])
        rig.connect(.none, status: .unknownConnectionIdentifier)
        rig.disconnect()
        let created = rig.commands.compactMap {
            if case .leCreateConnection(let create) = $0 { create.peer } else { nil }
        }
        #expect(created.last == DeviceAddress(0xC000_0000_1001, .random))
    }

    @Test("A controller that refuses another link is asked again when a link ends, and not before")
    func refusedLink() {
        let rig = connecting.makeRig(), first = rig.discover(connecting.address),
            second = rig.discover(connecting.other)
        rig.perform(.connect(first, ConnectRequest()))
        rig.connect(connecting.address)
        rig.controller.refused[HCI.Opcode.leCreateConnection.wire] = .connectionLimitExceeded
        rig.forget()
        rig.perform(.connect(second, ConnectRequest()))
        #expect(connecting.connections(rig) == [.connectFailed(second, .limitReached)])
        rig.forget()
        rig.perform(.connect(second, ConnectRequest()))
        rig.advance(by: .seconds(60))
        #expect(connecting.connections(rig).isEmpty)
        #expect(!rig.commands.contains { $0.opcode == .leCreateConnection })
        rig.controller.refused[HCI.Opcode.leCreateConnection.wire] = nil
        rig.disconnect()
        #expect(rig.commands.contains { $0.opcode == .leCreateConnection })
        rig.connect(connecting.other)
        #expect(connecting.connections(rig).last == .connected(second, LinkParameters(mtu: 185)))
    }
}
