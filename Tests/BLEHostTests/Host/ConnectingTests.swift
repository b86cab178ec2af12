import BLEHost
import BLEWire
import Testing

@Suite("Connecting")
struct ConnectingTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let other = DeviceAddress(0xC0FF_EE00_0002, .random)
    let handle = ConnectionHandle(wire: 0x40) ?? .lowest

    /// A rig whose peers agree on an MTU of 185.
    func makeRig(_ controller: FakeController = .old) -> Rig {
        let rig = Rig.ready(controller)
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.peer = { request in
            switch request {
            case .exchangeMTURequest: .exchangeMTUResponse(.init(serverMTU: 185))
            default: .errorResponse(.init(request: request.opcode, handle: .none, code: .attributeNotFound))
            }
        }
        return rig
    }

    func connections(_ rig: Rig, _ client: ClientID = Rig.central) -> [ClientEvent] {
        rig.events(of: client).filter {
            switch $0 {
            case .connected, .connectFailed, .disconnected: true
            default: false
            }
        }
    }

    @Test("A connection is reported once the MTU is settled", arguments: [FakeController.old, .new])
    func connect(controller: FakeController) {
        let rig = makeRig(controller), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(connections(rig).isEmpty)
        rig.connect(address)
        #expect(connections(rig) == [.connected(peer, LinkParameters(mtu: 185))])
        #expect(rig.remembered.map(\.identifier) == [peer])
        let opcode: HCI.Opcode =
            controller.features.contains(.extendedAdvertising) ? .leExtendedCreateConnection : .leCreateConnection
        #expect(rig.commands.contains { $0.opcode == opcode })
    }

    @Test("The supervision timeout is never shorter than 720 ms")
    func supervision() {
        var configuration = Host.Configuration(identifierSecret: 1)
        configuration.supervisionTimeout = .milliseconds(420)
        let rig = Rig.ready(configuration: configuration), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        let timeouts = rig.commands.compactMap { command in
            if case .leCreateConnection(let create) = command { create.parameters.timeout.duration } else { nil }
        }
        #expect(timeouts == [.milliseconds(720)])
    }

    @Test("Several peers are waited for with the accept list, and each change starts a new attempt")
    func acceptList() {
        let rig = makeRig(), first = rig.discover(address), second = rig.discover(other)
        rig.forget()
        rig.perform(.connect(first, ConnectRequest()))
        rig.perform(.connect(second, ConnectRequest()))
        #expect(rig.commands.map(\.opcode) == [.leCreateConnection, .leCreateConnectionCancel])
        rig.connect(.none, status: .unknownConnectionIdentifier)
        #expect(
            rig.commands.dropFirst(2).map(\.opcode) == [
                .leAddDeviceToFilterAcceptList, .leAddDeviceToFilterAcceptList, .leCreateConnection,
            ]
        )
        rig.connect(other)
        #expect(connections(rig) == [.connected(second, LinkParameters(mtu: 185))])
        guard case .leCreateConnection(let create) = rig.commands.last(where: { $0.opcode == .leCreateConnection })
        else { return #expect(Bool(false)) }
        #expect(create.policy == .peer)
        #expect(create.peer == address)
    }

    @Test("More peers than the accept list holds take turns")
    func crowdedAcceptList() {
        var controller = FakeController.old
        controller.acceptListSize = 2
        let rig = makeRig(controller)
        let addresses = (0..<5).map { DeviceAddress(0xC000_0000_0000 + $0, .random) }
        let peers = addresses.map { rig.discover($0) }
        for peer in peers {
            rig.perform(.connect(peer, ConnectRequest()))
            rig.connect(.none, status: .unknownConnectionIdentifier)
        }
        var tried: Set<DeviceAddress> = []
        for _ in 0..<10 {
            rig.advance(by: .seconds(5))
            rig.connect(.none, status: .unknownConnectionIdentifier)
            rig.advance(by: .milliseconds(100))
            for case .leAddDeviceToFilterAcceptList(let add) in rig.commands { tried.insert(add.address) }
        }
        #expect(tried == Set(addresses))
        #expect(rig.notes.contains(.limitReached(.acceptList)))
    }

    static let failures: [HCI.Status] = [
        .connectionFailedToBeEstablished, .connectionTimeout, .unspecifiedError, .controllerBusy,
    ]

    @Test("A failed attempt is repeated without telling the client", arguments: failures)
    func retry(status: HCI.Status) {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address, status: status)
        rig.forget()
        rig.advance(by: .seconds(1))
        #expect(rig.commands.map(\.opcode) == [.leCreateConnection])
        rig.connect(address)
        #expect(connections(rig) == [.connected(peer, LinkParameters(mtu: 185))])
    }

    @Test("A link that fails to be established is tried again")
    func lateFailure() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.peer = { _ in nil }
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.disconnect(reason: .connectionFailedToBeEstablished)
        #expect(connections(rig).isEmpty)
        #expect(rig.commands.filter { $0.opcode == .leCreateConnection }.count == 2)
    }

    @Test("A second client shares the link immediately, and the link ends with the last client")
    func shared() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.perform(.connect(peer, ConnectRequest()), for: Rig.otherCentral)
        #expect(connections(rig, Rig.otherCentral) == [.connected(peer, LinkParameters(mtu: 185))])
        rig.perform(.cancelConnection(peer))
        #expect(connections(rig).last == .disconnected(peer, nil, isReconnecting: false))
        #expect(!rig.commands.contains { $0.opcode == .disconnect })
        rig.perform(.cancelConnection(peer), for: Rig.otherCentral)
        #expect(rig.commands.contains { $0.opcode == .disconnect })
        #expect(connections(rig, Rig.otherCentral).count == 1)
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(connections(rig, Rig.otherCentral).last == .disconnected(peer, nil, isReconnecting: false))
    }

    @Test("A pending connection can be cancelled before and after its delay")
    func cancelPending() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest(startDelay: .seconds(5))))
        rig.forget()
        rig.perform(.cancelConnection(peer))
        #expect(rig.commands.isEmpty)
        #expect(connections(rig) == [.disconnected(peer, nil, isReconnecting: false)])
        rig.perform(.connect(peer, ConnectRequest(startDelay: .seconds(5))))
        rig.advance(by: .milliseconds(4_999))
        #expect(rig.commands.isEmpty)
        rig.advance(by: .milliseconds(1))
        #expect(rig.commands.map(\.opcode) == [.leCreateConnection])
        rig.perform(.cancelConnection(peer))
        #expect(rig.commands.map(\.opcode) == [.leCreateConnection, .leCreateConnectionCancel])
        rig.connect(.none, status: .unknownConnectionIdentifier)
        rig.advance(by: .seconds(10))
        #expect(rig.commands.count == 2)
        #expect(connections(rig).count == 2)
    }

    @Test("A link that comes up after its client cancelled is ended")
    func cancelRace() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.controller.silent = [HCI.Opcode.leCreateConnectionCancel.wire]
        rig.perform(.cancelConnection(peer))
        rig.connect(address)
        #expect(connections(rig) == [.disconnected(peer, nil, isReconnecting: false)])
        rig.inject(
            .commandComplete(
                .init(allowed: 1, opcode: .leCreateConnectionCancel, parameters: [HCI.Status.commandDisallowed.wire])
            )
        )
        #expect(rig.commands.last?.opcode == .disconnect)
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(connections(rig).count == 1)
    }

    @Test("A client that reconnects while the link ends learns of the end first, and then of the new link")
    func connectWhileLeaving() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.perform(.cancelConnection(peer))
        rig.perform(.connect(peer, ConnectRequest()))
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        rig.connect(address, 0x41)
        #expect(
            connections(rig) == [
                .connected(peer, LinkParameters(mtu: 185)),
                .disconnected(peer, nil, isReconnecting: false),
                .connected(peer, LinkParameters(mtu: 185)),
            ]
        )
    }

    @Test("A lost link is reported with its reason, and reconnected if the client requested that")
    func reconnect() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest(reconnects: true)))
        rig.connect(address)
        rig.perform(.connect(peer, ConnectRequest()), for: Rig.otherCentral)
        rig.forget()
        rig.disconnect(reason: .connectionTimeout)
        let failure = Failure.hci(.connectionTimeout)
        #expect(connections(rig) == [.disconnected(peer, failure, isReconnecting: true)])
        #expect(connections(rig, Rig.otherCentral) == [.disconnected(peer, failure, isReconnecting: false)])
        #expect(rig.commands.map(\.opcode) == [.leCreateConnection])
        rig.connect(address, 0x41)
        #expect(connections(rig).last == .connected(peer, LinkParameters(mtu: 185)))
        #expect(connections(rig, Rig.otherCentral).count == 1)
    }

    @Test("A renewal changes a pending or existing connection, and has no effect otherwise")
    func renewal() {
        let rig = makeRig(), peer = rig.discover(address), failure = Failure.hci(.connectionTimeout)
        let renewal = ConnectRequest(reconnects: true).renewal, withdrawal = ConnectRequest().renewal
        rig.perform(.connect(peer, renewal))
        #expect(connections(rig).isEmpty)
        #expect(!rig.commands.contains { $0.opcode == .leCreateConnection })
        rig.perform(.connect(peer, ConnectRequest()))
        rig.perform(.connect(peer, renewal))
        rig.connect(address)
        rig.disconnect(reason: .connectionTimeout)
        #expect(connections(rig).last == .disconnected(peer, failure, isReconnecting: true))
        rig.connect(address, 0x41)
        rig.forget()
        rig.perform(.connect(peer, withdrawal))
        #expect(connections(rig).isEmpty)
        rig.disconnect(0x41, reason: .connectionTimeout)
        #expect(connections(rig) == [.disconnected(peer, failure, isReconnecting: false)])
        rig.forget()
        rig.host.transportSwitchedOff(at: rig.now)
        rig.perform(.connect(peer, renewal))
        #expect(connections(rig).isEmpty)
    }

    @Test("A peer that connected to us is the same peer, and its link is shared")
    func peripheralLink() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.connect(address, role: .peripheral)
        rig.forget()
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(connections(rig) == [.connected(peer, LinkParameters(mtu: 23))])
        #expect(!rig.commands.contains { $0.opcode == .leCreateConnection })
        rig.perform(.cancelConnection(peer))
        #expect(connections(rig).last == .disconnected(peer, nil, isReconnecting: false))
        #expect(!rig.commands.contains { $0.opcode == .disconnect })
    }

    @Test("Connecting to a peer that was never seen fails")
    func unknown() {
        let rig = makeRig(), peer = PeerIdentifier(rawValue: 7)
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(connections(rig) == [.connectFailed(peer, .notFound)])
    }

    @Test("A known peer can be connected to after a restart without scanning")
    func remembered() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        let configuration = Host.Configuration(identifierSecret: 42, knownPeers: rig.remembered)
        let next = Rig.ready(configuration: configuration)
        #expect(next.events(of: Rig.central).first == .knownPeers([KnownPeer(peer: peer)]))
        next.perform(.connect(peer, ConnectRequest()))
        #expect(next.commands.last?.opcode == .leCreateConnection)
    }

    @Test("A controller that cannot scan while it connects alternates between the two")
    func turns() {
        var controller = FakeController.old
        controller.states = 0
        let rig = makeRig(controller), peer = rig.discover(address)
        rig.perform(.scan(ScanRequest()))
        rig.forget()
        rig.perform(.connect(peer, ConnectRequest()))
        #expect(rig.commands.map(\.opcode) == [.leSetScanEnable, .leCreateConnection])
        rig.advance(by: .seconds(1))
        #expect(rig.commands.last?.opcode == .leCreateConnectionCancel)
        rig.connect(.none, status: .unknownConnectionIdentifier)
        #expect(rig.commands.last?.opcode == .leSetScanEnable)
        rig.advance(by: .seconds(1))
        #expect(rig.commands.last?.opcode == .leCreateConnection)
        rig.connect(address)
        #expect(rig.commands.last?.opcode == .leSetScanEnable)
    }

    @Test("The RSSI is read for each client that asks, and the request is answered even if the link is lost")
    func rssi() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.perform(.peer(peer, .readRSSI))
        #expect(rig.events(of: Rig.central).last == .peer(peer, .rssiRead(.success(RSSI(dBm: -60)))))
        rig.controller.silent = [HCI.Opcode.readRSSI.wire]
        rig.perform(.peer(peer, .readRSSI))
        rig.forget()
        rig.disconnect()
        #expect(rig.events(of: Rig.central).first == .peer(peer, .rssiRead(.failure(.notConnected))))
        #expect(rig.events(of: Rig.central).contains { if case .disconnected = $0 { true } else { false } })
        rig.perform(.peer(peer, .readRSSI))
        #expect(rig.events(of: Rig.central).last == .peer(peer, .rssiRead(.failure(.notConnected))))
    }

    @Test("A second link to the same peer is not confused with the first")
    func twoLinks() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.connect(address, 0x41, role: .peripheral)
        rig.disconnect(0x41)
        #expect(connections(rig) == [.connected(peer, LinkParameters(mtu: 185))])
        rig.disconnect()
        #expect(connections(rig).count == 2)
    }

    @Test("A client may leave a link that is already ending because its peer does not respond")
    func leaveEnding() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.peer = { _ in nil }
        rig.perform(.peer(peer, .read(AttributeHandle(wire: 3))))
        rig.advance(by: .seconds(31))
        #expect(rig.commands.last?.opcode == .disconnect)
        rig.perform(.cancelConnection(peer))
        #expect(connections(rig).count == 1)
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(connections(rig).last == .disconnected(peer, nil, isReconnecting: false))
    }

    @Test("Duplicates of Disconnection Complete are harmless")
    func duplicateEnd() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.disconnect()
        rig.disconnect()
        #expect(connections(rig).count == 2)
        #expect(rig.notes.last == .unknownLink(handle))
    }

    @Test("A client that closes gives up its links, and receives nothing more")
    func close() {
        let rig = makeRig(), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.forget()
        rig.host.close(Rig.central, at: rig.now)
        rig.pump()
        #expect(rig.commands.map(\.opcode) == [.disconnect])
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(rig.events(of: Rig.central).isEmpty)
    }

    @Test("Links are made faster when both ends support it", arguments: [LEFeatures.dataPacketLengthExtension, .phy2M])
    func tuning(feature: LEFeatures) {
        let rig = makeRig(.new), peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.forget()
        rig.inject(.leReadRemoteFeaturesComplete(.init(status: .success, handle: handle, features: feature)))
        #expect(rig.commands.map(\.opcode) == [feature == .phy2M ? .leSetPHY : .leSetDataLength])
    }
}
