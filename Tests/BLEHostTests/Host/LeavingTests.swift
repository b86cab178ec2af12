import BLEWire
import Testing

@testable import BLEHost

/// What becomes of what was accepted for a link before somebody ends it.
@Suite("Disconnecting")
struct LeavingTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let link = ConnectionHandle(wire: 0x40) ?? .lowest
    let value = AttributeHandle(wire: 9)

    /// A rig with a client that is connected to a peer, whose controller keeps its four buffers from now on.
    func makeRig() -> (Rig, PeerIdentifier) {
        let rig = Rig.ready()
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        let peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.returnsBuffers = false
        rig.forget()
        return (rig, peer)
    }

    func hasDisconnected(_ rig: Rig) -> Bool { rig.commands.contains { $0.opcode == .disconnect } }

    /// Has the controller say that it has sent so many fragments.
    func complete(_ count: Int, _ rig: Rig) {
        rig.inject(.numberOfCompletedPackets(.init(completed: [.init(handle: link, count: UInt16(count))])))
    }

    /// The values that were written without an answer, in their order.
    func written(_ rig: Rig) -> [[UInt8]] {
        rig.frames.compactMap { frame in
            guard case .writeCommand(let command)? = try? ATTPacket(decoding: frame.payload) else { return nil }
            return command.value
        }
    }

    @Test("Write commands are sent before the disconnection is requested")
    func writeCommands() {
        let (rig, peer) = makeRig()
        for number in UInt8(0)..<10 { rig.perform(.peer(peer, .writeCommand(value, [number]))) }
        rig.perform(.cancelConnection(peer))
        #expect(rig.events(of: Rig.central).last == .peer(peer, .writeCommandsTaken(6)))
        for count in 4..<14 {
            #expect(rig.frames.count == min(count, 10))
            #expect(!hasDisconnected(rig))
            complete(1, rig)
        }
        #expect(written(rig) == (UInt8(0)..<10).map { [$0] })
        #expect(rig.commands.map(\.opcode) == [.disconnect])
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(rig.events(of: Rig.central).filter(\.isEnd) == [.disconnected(peer, nil, isReconnecting: false)])
        #expect(rig.notes.isEmpty)
    }

    @Test("Commands that wait for a response are sent, and those behind another request are cancelled with it")
    func behindRequests() {
        let (rig, peer) = makeRig()
        rig.returnsBuffers = true
        rig.perform(.peer(peer, .read(value)))
        rig.perform(.peer(peer, .writeCommand(value, [1])))
        rig.perform(.peer(peer, .write(value, [2])))
        rig.perform(.peer(peer, .writeCommand(value, [3])))
        #expect(rig.frames.map(\.payload) == [[0x0A, 9, 0]])
        rig.perform(.cancelConnection(peer))
        #expect(rig.frames.map(\.payload) == [[0x0A, 9, 0], [0x52, 9, 0, 1]])
        #expect(rig.commands.last?.opcode == .disconnect)
        let events = rig.events(of: Rig.central)
        #expect(events.contains(.peer(peer, .valueRead(value, .failure(.cancelled)))))
        #expect(events.contains(.peer(peer, .valueWritten(value, .cancelled))))
        #expect(events.filter { $0 == .peer(peer, .writeCommandsTaken(2)) }.count == 1)
    }

    @Test("A link with nothing left to send ends immediately")
    func idle() {
        let (rig, peer) = makeRig()
        rig.perform(.cancelConnection(peer))
        #expect(rig.commands.map(\.opcode) == [.disconnect])
    }

    @Test("Unsent data delays the end of a link by at most 6 s")
    func patience() {
        let (rig, peer) = makeRig()
        for number in UInt8(0)..<5 { rig.perform(.peer(peer, .writeCommand(value, [number]))) }
        rig.perform(.cancelConnection(peer))
        rig.advance(by: .milliseconds(5_999))
        #expect(!hasDisconnected(rig))
        rig.advance(by: .milliseconds(1))
        #expect(rig.commands.map(\.opcode) == [.disconnect])
        #expect(rig.notes == [.undelivered(link)])
        rig.advance(by: .seconds(20))
        #expect(rig.commands.map(\.opcode) == [.disconnect])
    }

    @Test("A link lost while it is ending ends once, and is reconnected if a client wants it again")
    func lost() {
        let (rig, peer) = makeRig()
        rig.perform(.peer(peer, .writeCommand(value, [1])))
        rig.perform(.cancelConnection(peer))
        rig.perform(.connect(peer, ConnectRequest()))
        rig.disconnect(reason: .connectionTimeout)
        #expect(!hasDisconnected(rig))
        #expect(rig.events(of: Rig.central).filter { $0.isEnd } == [.disconnected(peer, nil, isReconnecting: false)])
        #expect(rig.commands.last?.opcode == .leCreateConnection)
        rig.advance(by: .seconds(10))
        #expect(!hasDisconnected(rig))
    }

    @Test("An app's notifications are sent before the link to the central ends")
    func notifications() throws {
        let rig = Rig.ready()
        let peer = try subscribe(rig, bits: 1)
        rig.returnsBuffers = false
        for number in UInt8(0)..<6 { rig.perform(.service(.update(Self.sent, [number], to: nil)), for: Rig.peripheral) }
        rig.perform(.server(.disconnect(peer)), for: Rig.peripheral)
        #expect(rig.frames.count == 4)
        complete(4, rig)
        #expect(rig.frames.map { $0.payload.last } == [0, 1, 2, 3, 4, 5])
        #expect(!hasDisconnected(rig))
        complete(2, rig)
        #expect(rig.commands.map(\.opcode) == [.disconnect])
    }

    @Test("An app's indications are sent as they are confirmed before the link ends")
    func indications() throws {
        let rig = Rig.ready()
        let peer = try subscribe(rig, bits: 2)
        for number in UInt8(0)..<3 { rig.perform(.service(.update(Self.sent, [number], to: nil)), for: Rig.peripheral) }
        rig.perform(.server(.disconnect(peer)), for: Rig.peripheral)
        for count in 1...2 {
            #expect(rig.frames.count == count)
            #expect(!hasDisconnected(rig))
            rig.deliver([0x1E], on: .attribute, of: link)
            rig.pump()
        }
        #expect(rig.frames.map { $0.payload.last } == [0, 1, 2])
        #expect(rig.commands.map(\.opcode) == [.disconnect])
    }

    @Test("Data on a channel is sent as the peer gives credits, and then the channel is closed")
    func channels() throws {
        let (rig, peer) = makeRig()
        rig.returnsBuffers = true
        rig.perform(.peer(peer, .openChannel(SPSM(wire: 0x80))))
        let request = try SignalPacket(decoding: try #require(rig.frames.last).payload)
        let response = Signal.LECreditBasedConnectionResponse(
            destination: ChannelIdentifier(wire: 0x41),
            mtu: 100,
            mps: 23,
            credits: 1
        )
        let answer = SignalPacket(.leCreditBasedConnectionResponse(response), identifier: request.identifier)
        rig.deliver(answer.encoded, on: .leSignaling, of: link)
        rig.pump()
        guard case .peer(_, .channelOpened(_, .success(let channel)), _)? = rig.events(of: Rig.central).last else {
            return #expect(Bool(false), "the channel is open")
        }
        rig.perform(.channel(channel.id, .send([UInt8](repeating: 7, count: 60))))
        rig.forget()
        rig.perform(.cancelConnection(peer))
        #expect(rig.frames.isEmpty && !hasDisconnected(rig))
        let credit = Signal.FlowControlCredit(channel: ChannelIdentifier(wire: 0x41), credits: 2)
        rig.deliver(SignalPacket(.flowControlCredit(credit), identifier: .first).encoded, on: .leSignaling, of: link)
        rig.pump()
        #expect(rig.frames.map(\.channel.wire) == [0x41, 0x41, 5])
        #expect(rig.frames.map(\.payload.first) == [7, 7, 6])
        #expect(!hasDisconnected(rig))
        let ending = try SignalPacket(decoding: try #require(rig.frames.last).payload)
        guard case .disconnectionRequest(let end) = ending.signal else { return #expect(Bool(false), "\(ending)") }
        let ended = Signal.DisconnectionResponse(destination: end.destination, source: end.source)
        let last = SignalPacket(.disconnectionResponse(ended), identifier: ending.identifier)
        rig.deliver(last.encoded, on: .leSignaling, of: link)
        rig.pump()
        #expect(rig.commands.map(\.opcode) == [.disconnect])
    }

    @Test("The channels of a lost link are closed with the reason of the loss")
    func reason() throws {
        let (rig, peer) = makeRig()
        rig.returnsBuffers = true
        rig.perform(.peer(peer, .openChannel(SPSM(wire: 0x80))))
        rig.disconnect(reason: .connectionTimeout)
        let event = PeerEvent.channelOpened(SPSM(wire: 0x80), .failure(.hci(.connectionTimeout)))
        #expect(rig.events(of: Rig.central).contains(.peer(peer, event)))
    }

    private static let sent = LocalAttributeID(rawValue: 2)

    /// Has a central subscribe to a value of an app, to be notified (1) or indicated (2).
    private func subscribe(_ rig: Rig, bits: UInt8) throws -> PeerIdentifier {
        let characteristic = CharacteristicDefinition(
            id: Self.sent,
            uuid: .short(0xB001),
            properties: [.notify, .indicate],
            permissions: []
        )
        let service = ServiceDefinition(
            id: LocalAttributeID(rawValue: 1),
            uuid: .short(0xB000),
            characteristics: [characteristic]
        )
        rig.perform(.service(.addService(service)), for: Rig.peripheral)
        rig.connect(address, role: .peripheral)
        // The configuration is the last attribute of the database.
        rig.deliver([0x12, 19, 0, bits, 0], on: .attribute, of: link)
        rig.pump()
        let subscribers = rig.events(of: Rig.peripheral).compactMap { event -> PeerIdentifier? in
            if case .server(.subscribed(let central, _)) = event { central.peer } else { nil }
        }
        rig.forget()
        return try #require(subscribers.first)
    }
}

extension ClientEvent {
    fileprivate var isEnd: Bool {
        if case .disconnected = self { true } else { false }
    }
}
