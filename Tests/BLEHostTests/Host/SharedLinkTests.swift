import BLEHost
import BLEWire
import Testing

/// Two clients use one link, and one of them ignores that it has too many unsent packets.
@Suite("A shared link")
struct SharedLinkTests {
    private static let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    private static let link = ConnectionHandle(wire: 0x40) ?? .lowest
    private static let value = AttributeHandle(wire: 9)
    private static let share = Limits().queuedFramesOfClient

    /// Returns a rig with two clients that are connected to a peer, and with a controller that returns none of its four
    /// buffers from now on.
    private func makeRig() -> (Rig, PeerIdentifier) {
        let rig = Rig.ready()
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        rig.peer = { request in
            switch request {
            case .exchangeMTURequest: .exchangeMTUResponse(.init(serverMTU: 23))
            case .readRequest: .readResponse(.init(value: [7]))
            default: nil
            }
        }
        let peer = rig.discover(Self.address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(Self.address)
        rig.perform(.connect(peer, ConnectRequest()), for: Rig.otherCentral)
        rig.returnsBuffers = false
        rig.forget()
        return (rig, peer)
    }

    /// Returns buffers one by one until the host sends nothing more.
    private func drain(_ rig: Rig) {
        var returned = 0
        while returned < rig.frames.count {
            returned += 1
            rig.inject(.numberOfCompletedPackets(.init(completed: [.init(handle: Self.link, count: 1)])))
        }
    }

    private func flood(_ rig: Rig, _ peer: PeerIdentifier, _ count: Int) {
        for number in 0..<count {
            rig.perform(.peer(peer, .writeCommand(Self.value, UInt16(number).littleEndianOctets)))
        }
    }

    /// Returns the values of the write commands and notifications that were sent, in their order.
    private func sent(_ rig: Rig) -> [[UInt8]] {
        rig.frames.filter { [0x52, 0x1B].contains($0.payload.first) }.map { Array($0.payload.dropFirst(3)) }
    }

    private func taken(_ rig: Rig, by client: ClientID) -> Int {
        rig.events(of: client).reduce(0) { sum, event in
            switch event {
            case .peer(_, .writeCommandsTaken(let count), _), .server(.updatesTaken(let count)): sum + count
            default: sum
            }
        }
    }

    @Test("A client with many write commands neither prevents those of another client nor delays them for long")
    func commands() throws {
        let (rig, peer) = makeRig()
        flood(rig, peer, 1100)
        for number in UInt8(0)..<8 {
            rig.perform(.peer(peer, .writeCommand(Self.value, [number])), for: Rig.otherCentral)
        }
        rig.perform(.peer(peer, .read(Self.value)), for: Rig.otherCentral)
        #expect(rig.notes.isEmpty)
        drain(rig)
        let sent = sent(rig)
        let others = sent.indices.filter { sent[$0].count == 1 }
        #expect(others.map { sent[$0] } == (UInt8(0)..<8).map { [$0] })
        #expect(try #require(others.last) < Self.share + 4 + 8)
        #expect(sent.filter { $0.count == 2 } == (0..<1100).map { UInt16($0).littleEndianOctets })
        #expect(taken(rig, by: Rig.central) == 1100 && taken(rig, by: Rig.otherCentral) == 8)
        let read = PeerEvent.valueRead(Self.value, .success([7]))
        #expect(rig.events(of: Rig.otherCentral).contains { $0.peerEvent == read })
    }

    @Test("A client's requests stay behind its earlier write commands, however many there are")
    func order() {
        let (rig, peer) = makeRig()
        flood(rig, peer, 300)
        rig.perform(.peer(peer, .read(Self.value)))
        drain(rig)
        #expect(rig.frames.filter { $0.payload.first == 0x52 }.count == 300)
        #expect(rig.frames.last?.payload.first == 0x0A)
        #expect(rig.events(of: Rig.central).last?.peerEvent == .valueRead(Self.value, .success([7])))
    }

    @Test("Commands beyond the limit are dropped, and only those of the client that has too many")
    func tooMany() {
        let (rig, peer) = makeRig()
        flood(rig, peer, 4 + Self.share + Limits().queuedWriteCommands + 10)
        #expect(rig.notes == [Note](repeating: .limitReached(.queuedRequests(Self.link)), count: 10))
        rig.perform(.peer(peer, .writeCommand(Self.value, [1])), for: Rig.otherCentral)
        #expect(rig.notes.count == 10)
        drain(rig)
        #expect(sent(rig).contains([1]))
    }

    @Test("When a client leaves, its share of commands is sent on a shared link, and all on a link of its own")
    func leaving() {
        for isShared in [true, false] {
            let (rig, peer) = makeRig()
            if !isShared { rig.perform(.cancelConnection(peer), for: Rig.otherCentral) }
            flood(rig, peer, 500)
            rig.perform(.cancelConnection(peer))
            drain(rig)
            #expect(sent(rig).count == (isShared ? Self.share + 4 : 500))
            #expect(taken(rig, by: Rig.central) == 500)
        }
    }

    @Test("A client with many notifications neither prevents those of another client nor delays them for long")
    func values() throws {
        let rig = Rig.ready()
        let other = ClientID(rawValue: 9)
        rig.host.open(other, role: .peripheral, at: rig.now)
        rig.perform(.service(.addService(SampleService.definition)), for: Rig.peripheral)
        rig.perform(.service(.addService(SampleService.definition)), for: other)
        rig.perform(.server(.startAdvertising(.init(localName: "Nora"))), for: Rig.peripheral)
        rig.connect(Self.address, role: .peripheral)
        // The configurations are the last attributes of the two services.
        for handle in [24, 33] as [UInt8] {
            rig.deliver([0x12, handle, 0, 1, 0], on: .attribute, of: Self.link)
            rig.pump()
        }
        rig.returnsBuffers = false
        rig.forget()
        let held = Limits().queuedValues, count = 4 + Self.share + held
        func update(_ value: [UInt8], _ client: ClientID) {
            rig.perform(.service(.update(SampleService.sent, value, to: nil)), for: client)
        }
        for number in 0..<count + 3 { update(UInt16(number).littleEndianOctets, Rig.peripheral) }
        #expect(rig.notes == [Note](repeating: .limitReached(.queuedValues(Self.link)), count: 3))
        for number in UInt8(0)..<8 { update([number], other) }
        #expect(rig.notes.count == 3)
        drain(rig)
        let sent = sent(rig)
        let others = sent.indices.filter { sent[$0].count == 1 }
        #expect(others.map { sent[$0] } == (UInt8(0)..<8).map { [$0] })
        #expect(try #require(others.last) < Self.share + 4 + 8)
        #expect(sent.filter { $0.count == 2 } == (0..<count).map { UInt16($0).littleEndianOctets })
        #expect(taken(rig, by: Rig.peripheral) == count + 3 && taken(rig, by: other) == 8)
    }
}
