import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 3.3.3.3.
@Suite("Client subscriptions to a peer")
struct SubscriptionTests {
    let one = LoneLayer.app, two = ClientID(rawValue: 4)
    let handle = AttributeHandle(wire: 5)
    let place = AttributeHandleRange(.init(wire: 6))

    private func makeLayer() -> LoneLayer {
        var lone = LoneLayer(role: .central)
        lone.layer.attach(two, to: LoneLayer.link)
        return lone
    }

    private func subscribe(_ subscription: Subscription) -> AttributeRequest {
        .subscribe(subscription, to: handle, in: place)
    }

    /// Subscribes a client, as the first.
    private func subscribed(_ client: ClientID, _ subscription: Subscription = .notifications) -> LoneLayer {
        var lone = makeLayer()
        _ = lone.perform(subscribe(subscription), for: client)
        _ = lone.answers(to: [UInt8]("05 01 0600 0229"))
        _ = lone.answers(to: [UInt8]("13"))
        _ = lone.peerEvents(of: client)
        return lone
    }

    @Test("The configuration descriptor is discovered once, and written only when it must change")
    func writing() {
        var lone = makeLayer()
        #expect(lone.perform(subscribe(.notifications)) == [[UInt8]("04 0600 0600")])
        #expect(lone.answers(to: [UInt8]("05 01 0600 0229")) == [[UInt8]("12 0600 0100")])
        #expect(lone.answers(to: [UInt8]("13")) == [])
        #expect(lone.peerEvents() == [.subscriptionChanged(handle, .notifications, nil)])
        #expect(lone.perform(subscribe(.notifications)) == [])
        #expect(lone.peerEvents() == [.subscriptionChanged(handle, .notifications, nil)])
        #expect(lone.perform(subscribe(.indications)) == [[UInt8]("12 0600 0200")])
        #expect(lone.answers(to: [UInt8]("13")) == [])
        #expect(lone.perform(subscribe(.none)) == [[UInt8]("12 0600 0000")])
        #expect(lone.answers(to: [UInt8]("13")) == [])
        #expect(
            lone.peerEvents() == [
                .subscriptionChanged(handle, .indications, nil), .subscriptionChanged(handle, .none, nil),
            ]
        )
    }

    @Test("Only subscribed clients receive values")
    func delivery() {
        var lone = subscribed(one)
        #expect(lone.answers(to: [UInt8]("1b 0500 07")) == [])
        #expect(lone.answers(to: [UInt8]("1d 0500 08")) == [[0x1E]])
        #expect(lone.answers(to: [UInt8]("23 0500 0100 09 0600 0000")) == [])
        #expect(lone.peerEvents() == [7, 8, 9].map { .valueNotified(handle, [$0]) })
        #expect(lone.peerEvents(of: two) == [])
        #expect(lone.notes == [.unwantedValue(.init(wire: 6), LoneLayer.link)])
    }

    @Test("Clients share a subscription: only the first and the last change is written to the peer")
    func sharing() {
        var lone = subscribed(one)
        #expect(lone.perform(subscribe(.notifications), for: two) == [])
        #expect(lone.peerEvents(of: two) == [.subscriptionChanged(handle, .notifications, nil)])
        _ = lone.answers(to: [UInt8]("1b 0500 07"))
        #expect(lone.peerEvents() == [.valueNotified(handle, [7])])
        #expect(lone.peerEvents(of: two) == [.valueNotified(handle, [7])])
        #expect(lone.perform(subscribe(.none)) == [])
        #expect(lone.peerEvents() == [.subscriptionChanged(handle, .none, nil)])
        _ = lone.answers(to: [UInt8]("1b 0500 08"))
        #expect(lone.peerEvents() == [])
        lone.layer.detach(two, from: LoneLayer.link, at: lone.now)
        let sent = lone.sent() + lone.advance(by: .seconds(1))
        #expect(sent == [[UInt8]("08 0100 ffff 002a")])
        #expect(lone.answers(to: [UInt8]("01 08 0100 0a")) == [[UInt8]("12 0600 0000")])
    }

    @Test("A client that wants notifications and one that wants indications both get them")
    func both() {
        var lone = subscribed(one)
        #expect(lone.perform(subscribe(.indications), for: two) == [[UInt8]("12 0600 0300")])
        _ = lone.answers(to: [UInt8]("13"))
        #expect(lone.perform(subscribe(.none)) == [[UInt8]("12 0600 0200")])
    }

    @Test("A refused change leaves the subscription as it was")
    func refusal() {
        var lone = subscribed(one)
        _ = lone.perform(subscribe(.indications))
        _ = lone.answers(to: [UInt8]("01 12 0600 05"))
        let failure = Failure.att(.insufficientAuthentication)
        #expect(lone.peerEvents() == [.subscriptionChanged(handle, .notifications, failure)])
        _ = lone.answers(to: [UInt8]("1b 0500 07"))
        #expect(lone.peerEvents() == [.valueNotified(handle, [7])])
    }

    @Test("A characteristic without a configuration descriptor cannot be subscribed to")
    func missing() {
        var lone = makeLayer()
        #expect(lone.perform(.subscribe(.notifications, to: handle, in: nil)) == [])
        #expect(lone.peerEvents() == [.subscriptionChanged(handle, .none, .att(.attributeNotFound))])
        _ = lone.answers(to: [UInt8]("1b 0500 07"))
        #expect(lone.peerEvents() == [])
    }

    @Test("A value that arrives before the response to the subscription is delivered")
    func early() {
        var lone = makeLayer()
        _ = lone.perform(subscribe(.notifications))
        _ = lone.answers(to: [UInt8]("05 01 0600 0229"))
        _ = lone.answers(to: [UInt8]("1b 0500 07"))
        _ = lone.answers(to: [UInt8]("13"))
        #expect(
            lone.peerEvents() == [.valueNotified(handle, [7]), .subscriptionChanged(handle, .notifications, nil)]
        )
    }

    @Test("A subscription is undone if its client leaves before it completes")
    func undone() {
        var lone = makeLayer()
        _ = lone.perform(subscribe(.notifications))
        _ = lone.answers(to: [UInt8]("05 01 0600 0229"))
        lone.layer.detach(one, from: LoneLayer.link, at: lone.now)
        _ = lone.sent()
        #expect(lone.peerEvents() == [.subscriptionChanged(handle, .none, .cancelled)])
        #expect(lone.answers(to: [UInt8]("13")) == [])
        #expect(lone.advance(by: .seconds(1)) == [[UInt8]("08 0100 ffff 002a")])
        #expect(lone.answers(to: [UInt8]("01 08 0100 0a")) == [[UInt8]("12 0600 0000")])
    }
}
