import BLEWire
import Testing

@testable import BLEHost

@Suite("Client requests to a peer")
struct ClientRequestTests {
    let one = LoneLayer.app, two = ClientID(rawValue: 4)
    let handle = AttributeHandle(wire: 5)

    /// A layer with two clients attached.
    private func makeLayer(mtu: Int = 23, limits: Limits = Limits()) -> LoneLayer {
        var lone = LoneLayer(role: .central, mtu: mtu, limits: limits)
        lone.layer.attach(two, to: LoneLayer.link)
        return lone
    }

    @Test("Requests are sent one at a time, and each client's are answered in order")
    func order() {
        var lone = makeLayer()
        #expect(lone.perform(.read(handle)) == [[UInt8]("0a 0500")])
        #expect(lone.perform(.write(handle, [1])) == [])
        #expect(lone.perform(.read(.init(wire: 6)), for: two) == [])
        #expect(lone.answers(to: [UInt8]("0b 07")) == [[UInt8]("12 0500 01")])
        #expect(lone.answers(to: [UInt8]("13")) == [[UInt8]("0a 0600")])
        #expect(lone.answers(to: [UInt8]("01 0a 0600 02")) == [])
        #expect(lone.peerEvents() == [.valueRead(handle, .success([7])), .valueWritten(handle, nil)])
        #expect(lone.peerEvents(of: two) == [.valueRead(.init(wire: 6), .failure(.att(.readNotPermitted)))])
    }

    @Test("Requests of a client that is not attached are refused")
    func stranger() {
        var lone = makeLayer()
        let stranger = ClientID(rawValue: 9)
        #expect(lone.perform(.read(handle), for: stranger) == [])
        #expect(lone.peerEvents(of: stranger) == [.valueRead(handle, .failure(.notConnected))])
    }

    @Test("Requests over a client's limit are refused, and those of other clients are not")
    func limit() {
        var limits = Limits()
        limits.queuedRequests = 2
        var lone = makeLayer(limits: limits)
        for _ in 0..<4 { _ = lone.perform(.read(handle)) }
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.limitReached))])
        _ = lone.perform(.read(handle), for: two)
        #expect(lone.peerEvents(of: two) == [])
    }

    @Test("Write commands overtake pending responses, but not waiting requests of their client or long writes")
    func commands() {
        var lone = makeLayer()
        let command = AttributeRequest.writeCommand(handle, [9])
        _ = lone.perform(.write(handle, [1]))
        #expect(lone.perform(command) == [[UInt8]("52 0500 09")])
        _ = lone.perform(.write(handle, [2]))
        #expect(lone.perform(command) == [])
        #expect(lone.perform(command, for: two) == [[UInt8]("52 0500 09")])
        #expect(lone.answers(to: [UInt8]("13")) == [[UInt8]("12 0500 02"), [UInt8]("52 0500 09")])
        #expect(lone.answers(to: [UInt8]("13")) == [])
        #expect(lone.perform(.write(handle, [UInt8](repeating: 1, count: 21))).count == 1)
        #expect(lone.perform(command) == [])
        #expect(lone.answers(to: [UInt8]("01 16 0500 05")) == [[UInt8]("18 00")])
        #expect(lone.answers(to: [UInt8]("19")) == [[UInt8]("52 0500 09")])
        lone.take()
        #expect(lone.peerEvents().filter { $0 == .writeCommandsTaken(1) }.count == 3)
        #expect(lone.peerEvents(of: two) == [.writeCommandsTaken(1)])
    }

    @Test(
        "Write commands wait for the last packet of their client's earlier requests, but not of other clients'",
        arguments: [
            (
                .subscribe(.notifications, to: .init(wire: 5), in: range(6, 6)),
                [("05 01 0600 0229", "12 0600 0100")], "13"
            ),
            (.subscribe(.notifications, to: .init(wire: 5), in: range(6, 6)), [("01 04 0600 0a", "")], ""),
            (.read(.init(wire: 5)), [("0b" + String(repeating: " 00", count: 22), "0c 0500 1600")], "0d"),
            (.read(.init(wire: 5)), [("0b 00", "")], ""),
            (
                .discoverCharacteristics(in: range(1, 9), only: []),
                [("09 07 0200 02 0300 002a", "08 0400 ffff 0328")], "01 08 0400 0a"
            ),
        ] as [(AttributeRequest, [(answer: String, next: String)], String)]
    )
    func severalPackets(request: AttributeRequest, steps: [(answer: String, next: String)], last: String) {
        var lone = makeLayer()
        let command = AttributeRequest.writeCommand(handle, [9]), packet = [UInt8]("52 0500 09")
        #expect(lone.perform(request).count == 1)
        #expect(lone.perform(command) == [])
        #expect(lone.perform(command, for: two) == [packet])
        var sent: [[UInt8]] = []
        for (answer, next) in steps {
            #expect(!sent.contains(packet))
            sent = lone.answers(to: [UInt8](answer))
            if !next.isEmpty { #expect(sent.first == [UInt8](next)) }
        }
        if !last.isEmpty, !sent.contains(packet) { sent = lone.answers(to: [UInt8](last)) }
        #expect(sent.last == packet)
        lone.take()
        #expect(lone.peerEvents().filter { $0 == .writeCommandsTaken(1) }.count == 1)
    }

    @Test(
        "A client's write commands are sent even if it leaves, except those behind a long write",
        arguments: [
            (true, AttributeRequest.read(.init(wire: 5))),
            (false, .write(.init(wire: 5), .init(repeating: 1, count: 21))),
        ]
    )
    func commandsOfWhoLeaves(isSent: Bool, request: AttributeRequest) {
        var lone = makeLayer()
        _ = lone.perform(request)
        #expect(lone.perform(.writeCommand(handle, [9])) == [])
        lone.layer.detach(one, from: LoneLayer.link, at: lone.now)
        #expect(lone.sent() == (isSent ? [[UInt8]("52 0500 09")] : []))
        #expect(lone.peerEvents().filter { $0 == .writeCommandsTaken(1) }.count == 1)
    }

    @Test("A write command that does not fit is dropped with a note")
    func oversized() {
        var lone = makeLayer()
        #expect(lone.perform(.writeCommand(handle, [UInt8](repeating: 1, count: 21))) == [])
        #expect(lone.peerEvents() == [.writeCommandsTaken(1)])
        #expect(lone.notes == [.oversizedCommand(handle, LoneLayer.link)])
    }

    @Test("After 30 s without a response all requests fail and the link is abandoned")
    func timeout() {
        var lone = makeLayer()
        _ = lone.perform(.read(handle))
        _ = lone.perform(.discoverServices(only: []), for: two)
        #expect(lone.layer.deadline == lone.now + .seconds(30))
        #expect(lone.advance(by: .seconds(30)) == [])
        #expect(lone.others.contains(.abandon(LoneLayer.link)))
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.timedOut))])
        #expect(lone.peerEvents(of: two) == [.servicesDiscovered(.failure(.timedOut))])
        #expect(lone.perform(.read(handle)) == [])
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.timedOut))])
        #expect(lone.layer.deadline == nil)
    }

    @Test("A client that leaves has its requests answered immediately, and nothing is left half done")
    func detaching() {
        var lone = makeLayer()
        _ = lone.perform(.write(handle, [UInt8](repeating: 1, count: 21)))
        _ = lone.perform(.read(handle))
        _ = lone.perform(.read(handle), for: two)
        lone.layer.detach(one, from: LoneLayer.link, at: lone.now)
        #expect(lone.sent() == [])
        #expect(lone.peerEvents() == [.valueWritten(handle, .cancelled), .valueRead(handle, .failure(.cancelled))])
        let echo = [0x17, 0x05, 0x00, 0x00, 0x00] + [UInt8](repeating: 1, count: 18)
        #expect(lone.answers(to: echo) == [[UInt8]("18 00")])
        #expect(lone.answers(to: [UInt8]("19")) == [[UInt8]("0a 0500")])
        #expect(lone.answers(to: [UInt8]("0b")) == [])
        #expect(lone.peerEvents(of: two) == [.valueRead(handle, .success([]))])
        #expect(lone.peerEvents() == [])
    }

    @Test("The MTU exchange times out after a second, but a late response counts")
    func lateExchange() {
        var layer = AttributeLayer(configuration: .init())
        layer.linkUp(LoneLayer.link, peer: LoneLayer.peer, role: .central, at: Instant())
        layer.attach(one, to: LoneLayer.link)
        var outputs: [AttributeLayer.Output] = []
        while let output = layer.next() { outputs.append(output) }
        #expect(outputs == [.send(.init([UInt8]("02 0502")), on: LoneLayer.link, receipt: nil)])
        layer.perform(.read(handle), on: LoneLayer.link, for: Requester(one), at: Instant())
        #expect(layer.deadline == Instant() + .seconds(1))
        layer.wake(at: Instant() + .seconds(1))
        #expect(layer.next() == .mtuSettled(LoneLayer.link, 23))
        #expect(layer.next() == nil)
        let answer = [UInt8]("03 f700")
        layer.receive(answer.span, on: LoneLayer.link, at: Instant() + .seconds(2))
        #expect(layer.next() == .event(.peer(LoneLayer.peer, .mtuChanged(247)), for: one))
        #expect(layer.next() == .send(.init([UInt8]("0a 0500")), on: LoneLayer.link, receipt: nil))
    }

    /// A layer at whose end the central has not asked for a size of packets yet.
    private func makePeripheral() -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, mtu: nil)
        lone.layer.attach(one, to: LoneLayer.link)
        return lone
    }

    @Test("Clients of a peripheral learn the MTU that the central requested", arguments: [0, 5])
    func sizeOfCentral(seconds: Int) {
        var lone = makePeripheral()
        _ = lone.advance(by: .seconds(seconds))
        #expect(lone.answers(to: [UInt8]("02 f700")).contains([UInt8]("03 0502")))
        #expect(lone.peerEvents(of: one) == [.mtuChanged(247)])
        _ = lone.answers(to: [UInt8]("02 ff00"))
        #expect(lone.peerEvents(of: one) == [])
    }

    @Test("A peripheral requests an MTU itself when a client makes a request, unless the central has done so")
    func sizeOfPeripheral() {
        var lone = makePeripheral()
        #expect(lone.perform(.read(handle), for: one) == [[UInt8]("02 0502")])
        #expect(lone.answers(to: [UInt8]("03 f700")) == [[UInt8]("0a 0500")])
        #expect(lone.answers(to: [UInt8]("0b 01")) == [])
        #expect(lone.peerEvents(of: one) == [.mtuChanged(247), .valueRead(handle, .success([1]))])
        var asked = makePeripheral()
        _ = asked.answers(to: [UInt8]("02 f700"))
        #expect(asked.perform(.read(handle), for: one) == [[UInt8]("0a 0500")])
    }

    @Test("Centrals known to the server have the MTU that this host requested")
    func sizeOfServer() {
        var layer = AttributeLayer(configuration: .init())
        layer.linkUp(LoneLayer.link, peer: LoneLayer.peer, role: .central, at: Instant())
        layer.perform(.addService(SampleService.definition), for: two, at: Instant())
        let isNew = layer.noteUse(of: two, on: LoneLayer.link)
        #expect(isNew)
        while layer.next() != nil {}
        let answer = [UInt8]("03 f700")
        layer.receive(answer.span, on: LoneLayer.link, at: Instant())
        let central = RemoteCentral(peer: LoneLayer.peer, mtu: 247)
        var outputs: [AttributeLayer.Output] = []
        while let output = layer.next() { outputs.append(output) }
        #expect(outputs.contains(.event(.server(.centralChanged(central)), for: two)))
    }

    @Test("Service Changed is not looked for if a client has already found it")
    func knownService() {
        var lone = makeLayer()
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 0500 0118 0600 ffff 0f18"))
        _ = lone.advance(by: .milliseconds(250))
        #expect(lone.answers(to: [UInt8]("01 08 0100 0a")) == [[UInt8]("08 0200 ffff 0328")])
    }

    @Test("Busy clients delay the host's own requests by two seconds, and then take turns with them")
    func patience() {
        var lone = makeLayer()
        let read = AttributeRequest.read(.init(wire: 5)), start = lone.now
        var packets = lone.perform(read) + lone.perform(read), opcodes: [UInt8] = []
        for _ in 0..<40 {
            _ = lone.perform(read)
            opcodes.append(packets.first?[0] ?? 0)
            packets = lone.advance(by: .milliseconds(100))
            #expect(packets.isEmpty)
            packets = lone.answers(to: opcodes.last == 0x0A ? [0x0B, 1] : [UInt8]("01 08 0100 0a"))
            #expect(packets.count == 1)
            if opcodes.last == 0x08 { #expect(lone.now >= start + .seconds(2)) }
        }
        #expect(opcodes.count { $0 == 0x08 } == 1)
        #expect(opcodes.count { $0 == 0x0A } == 39)
    }

    /// Lets the name be read and changes of services be watched, at 8.
    private func watchServices(_ lone: inout LoneLayer) {
        #expect(lone.perform(.discoverServices(only: [.short(0x180F)])).count == 1)
        #expect(lone.answers(to: [UInt8]("01 06 0100 0a")) == [])
        #expect(lone.layer.deadline == lone.now + .milliseconds(250))
        #expect(lone.advance(by: .milliseconds(250)) == [[UInt8]("08 0100 ffff 002a")])
        #expect(lone.answers(to: [UInt8]("09 03 0300 41")) == [[UInt8]("06 0100 ffff 0028 0118")])
        #expect(lone.peerEvents(of: two) == [.nameChanged("A")])
        #expect(lone.answers(to: [UInt8]("07 0600 0900")) == [[UInt8]("06 0a00 ffff 0028 0118")])
        #expect(lone.answers(to: [UInt8]("01 06 0a00 0a")) == [[UInt8]("08 0700 ffff 0328")])
        #expect(lone.answers(to: [UInt8]("09 07 0700 20 0800 052a")) == [[UInt8]("04 0900 ffff")])
        #expect(lone.answers(to: [UInt8]("05 01 0900 0229")) == [[UInt8]("12 0900 0200")])
        // The list of services is completed for the next link, if the peer has a Database Hash.
        #expect(lone.answers(to: [UInt8]("13")) == [[UInt8]("10 0100 ffff 0028")])
        #expect(lone.answers(to: [UInt8]("11 06 0600 0900 0118")) == [[UInt8]("10 0a00 ffff 0028")])
        #expect(lone.answers(to: [UInt8]("01 10 0a00 0a")) == [[UInt8]("08 0100 ffff 2a2b")])
        #expect(lone.answers(to: [UInt8]("01 08 0100 0a")) == [])
    }

    @Test("The name is read and Service Changed is enabled when clients are idle")
    func chores() {
        var lone = makeLayer()
        watchServices(&lone)
        _ = lone.peerEvents()
        #expect(lone.answers(to: [UInt8]("1d 0800 1000 1f00")) == [[0x1E]])
        #expect(lone.peerEvents() == [.servicesModified(range(16, 31))])
        #expect(lone.peerEvents(of: two) == [.servicesModified(range(16, 31))])
        #expect(lone.answers(to: [UInt8]("1d 0800 1f00 1000")) == [[0x1E]])
        #expect(lone.events.isEmpty)
        #expect(lone.layer.deadline == nil)
    }

    @Test("A subscription under way when its service changes fails, and delivers no values", arguments: [true, false])
    func changedSubscription(isAccepted: Bool) {
        var lone = makeLayer()
        watchServices(&lone)
        let handle = AttributeHandle(wire: 0x12)
        #expect(
            lone.perform(.subscribe(.notifications, to: handle, in: range(0x13, 0x13))) == [[UInt8]("04 1300 1300")]
        )
        #expect(lone.answers(to: [UInt8]("05 01 1300 0229")) == [[UInt8]("12 1300 0100")])
        _ = lone.peerEvents()
        _ = lone.answers(to: [UInt8]("1d 0800 1000 1f00"))
        #expect(
            lone.peerEvents() == [
                .subscriptionChanged(handle, .none, .notFound), .servicesModified(range(0x10, 0x1F)),
            ]
        )
        _ = lone.answers(to: [UInt8](isAccepted ? "13" : "01 12 1300 01"))
        _ = lone.answers(to: [UInt8]("1b 1200 07"))
        #expect(lone.peerEvents() == [])
        #expect(lone.notes.contains(.unwantedValue(handle, LoneLayer.link)))
    }
}
