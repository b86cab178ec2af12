import BLEHost
import BLEWire
import Testing

@Suite("Updates")
struct UpdateTests {
    private func makeLayer(subscribing bits: UInt8 = 1) -> LoneLayer {
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.answers(to: [0x12, 18, 0, bits, 0])
        _ = lone.serverEvents()
        return lone
    }

    private func update(_ octet: UInt8, to centrals: [PeerIdentifier]? = nil) -> ServiceRequest {
        .update(SampleService.sent, [octet], to: centrals)
    }

    @Test("An update counts as sent only once the controller has sent it")
    func taken() {
        var lone = makeLayer()
        #expect(lone.perform(update(1)) == [[0x1B, 17, 0, 1]])
        #expect(lone.perform(update(2)) == [[0x1B, 17, 0, 2]])
        #expect(lone.serverEvents() == [])
        lone.take()
        #expect(lone.serverEvents() == [.updatesTaken(1), .updatesTaken(1)])
    }

    @Test("An update without subscribers counts as sent immediately")
    func nobody() {
        var lone = makeLayer(subscribing: 0)
        #expect(lone.perform(update(1)) == [])
        #expect(lone.serverEvents() == [.updatesTaken(1)])
        var other = makeLayer()
        #expect(other.perform(update(1, to: [.init(rawValue: 99)])) == [])
        #expect(other.perform(.update(.init(rawValue: 77), [1], to: nil)) == [])
        #expect(other.serverEvents() == [.updatesTaken(1), .updatesTaken(1)])
    }

    @Test("Indications are sent one after the other in order, each after a confirmation")
    func indications() {
        var lone = makeLayer(subscribing: 2)
        #expect(lone.perform(update(1)) == [[0x1D, 17, 0, 1]])
        #expect(lone.perform(update(2)) == [])
        #expect(lone.perform(update(3, to: [LoneLayer.peer])) == [])
        lone.take()
        #expect(lone.serverEvents() == [.updatesTaken(1)])
        for octet in UInt8(2)...3 {
            #expect(lone.answers(to: [0x1E]) == [[0x1D, 17, 0, octet]])
            lone.take()
            #expect(lone.serverEvents() == [.updatesTaken(1)])
        }
        #expect(lone.answers(to: [0x1E]) == [])
        #expect(lone.layer.deadline == nil)
    }

    /// Core 6.0, Vol 3, Part G, 3.3.3.3.
    @Test("Waiting indications are never sent once the peer turns them off, and count as sent")
    func turnedOff() {
        var lone = makeLayer(subscribing: 2)
        for octet in UInt8(1)...3 { _ = lone.perform(update(octet)) }
        #expect(lone.answers(to: [0x12, 18, 0, 0, 0]) == [[0x13]])
        lone.take()
        #expect(lone.serverEvents().last == .updatesTaken(3))
        #expect(lone.answers(to: [0x12, 18, 0, 2, 0]) == [[0x13]])
        #expect(lone.answers(to: [0x1E]) == [])
        #expect(lone.perform(update(4)) == [[0x1D, 17, 0, 4]])
    }

    @Test("Waiting indications are never sent once their service is removed, and count as sent")
    func removed() {
        var lone = makeLayer(subscribing: 2)
        for octet in UInt8(1)...3 { _ = lone.perform(update(octet)) }
        _ = lone.perform(.removeAllServices)
        #expect(lone.answers(to: [0x1E]) == [])
        lone.take()
        #expect(lone.serverEvents().last == .updatesTaken(3))
    }

    @Test("An indication that is not confirmed within 30 s ends the link and drops those that wait")
    func unconfirmed() {
        var lone = makeLayer(subscribing: 2)
        _ = lone.perform(update(1))
        _ = lone.perform(update(2))
        #expect(lone.layer.deadline == lone.now + .seconds(30))
        _ = lone.advance(by: .seconds(30))
        #expect(lone.others.contains(.abandon(LoneLayer.link)))
        #expect(lone.serverEvents() == [.updatesTaken(1), .updatesTaken(1)])
    }

    @Test(
        "When the link ends, unsent updates count as sent, and the peer as unsubscribed",
        arguments: [1, 2] as [UInt8]
    )
    func linkDown(bits: UInt8) {
        var lone = makeLayer(subscribing: bits)
        _ = lone.perform(update(1))
        _ = lone.perform(update(2))
        lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: lone.now)
        _ = lone.sent()
        let events = lone.serverEvents()
        #expect(events.filter { $0 == .updatesTaken(1) }.count == 2)
        let central = RemoteCentral(peer: LoneLayer.peer, mtu: 23)
        #expect(events.last == .unsubscribed(central, from: SampleService.sent))
        lone.take()
        #expect(lone.serverEvents() == [])
    }

    @Test("An update reaches its centrals, and counts as sent once the last one has been")
    func several() {
        var layer = AttributeLayer(configuration: .init(), database: .plain())
        let client = ClientID(rawValue: 1)
        let links = (1...3).compactMap { ConnectionHandle(wire: $0) }
        layer.perform(.addService(SampleService.definition), for: client, at: Instant())
        for link in links {
            let peer = PeerIdentifier(rawValue: UInt128(link.wire))
            layer.linkUp(link, peer: peer, role: .peripheral, at: Instant())
            let subscribe: [UInt8] = [0x12, 18, 0, 1, 0]
            layer.receive(subscribe.span, on: link, at: Instant())
        }
        while layer.next() != nil {}
        let peers = [PeerIdentifier(rawValue: 1), PeerIdentifier(rawValue: 3)]
        layer.perform(.update(SampleService.sent, [1], to: peers), for: client, at: Instant())
        var receipts: [SendReceipt] = [], targets: [ConnectionHandle] = []
        while let output = layer.next() {
            guard case .send(_, let link, let receipt?) = output else { continue }
            targets.append(link)
            receipts.append(receipt)
        }
        #expect(targets == [links[0], links[2]])
        layer.sent(receipts[1], at: Instant())
        #expect(layer.next() == nil)
        layer.sent(receipts[0], at: Instant())
        #expect(layer.next() == .event(.server(.updatesTaken(1)), for: client))
    }

    @Test("Updates are truncated to fit", arguments: [1, 2] as [UInt8])
    func cutting(bits: UInt8) {
        var lone = makeLayer(subscribing: bits)
        let value = [UInt8](repeating: 4, count: 100)
        #expect(lone.perform(.update(SampleService.sent, value, to: nil)).map(\.count) == [23])
    }
}

/// Core 6.0, Vol 3, Part G, 7.1.
@Suite("Changes of the server's own services")
struct ServiceChangeTests {
    @Test("A change is indicated to subscribed peers, with the affected handles")
    func indication() {
        var lone = LoneLayer(role: .peripheral)
        #expect(lone.perform(.addService(SampleService.definition)) == [])
        #expect(lone.answers(to: [UInt8]("12 0900 0200")) == [[0x13]])
        #expect(lone.perform(.removeService(SampleService.service)) == [[UInt8]("1d 0800 0a00 1200")])
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.perform(.removeAllServices)
        #expect(lone.answers(to: [0x1E]) == [[UInt8]("1d 0800 1300 1b00")])
        #expect(lone.answers(to: [0x1E]) == [])
    }

    @Test("Handles that a peer may know are not reused while a link is up")
    func handles() {
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.perform(.removeAllServices)
        _ = lone.perform(.addService(SampleService.definition))
        #expect(lone.answers(to: [UInt8]("0a 0e00")).map(\.hexadecimal) == ["010a0e0001"])
        #expect(lone.answers(to: [UInt8]("0a 1700")).map(\.hexadecimal) == ["0b010203"])
        lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: lone.now)
        lone.layer.reset(at: lone.now)
        _ = lone.perform(.addService(SampleService.definition))
        lone.layer.linkUp(LoneLayer.link, peer: LoneLayer.peer, role: .peripheral, at: lone.now)
        #expect(lone.answers(to: [UInt8]("0a 0e00")).map(\.hexadecimal) == ["0b010203"])
    }

    @Test("Subscribers of a removed characteristic are unsubscribed")
    func unsubscription() {
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.answers(to: [0x12, 18, 0, 1, 0])
        _ = lone.serverEvents()
        _ = lone.perform(.removeService(SampleService.service))
        let central = RemoteCentral(peer: LoneLayer.peer, mtu: 23)
        #expect(lone.serverEvents() == [.unsubscribed(central, from: SampleService.sent)])
    }
}
