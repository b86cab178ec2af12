import BLEHost
import BLEWire
import Testing

@Suite("A session that outlives its app")
struct KeptSessionTests {
    private static let peer = PeerIdentifier(rawValue: 5)
    private static let connected = ClientEvent.connected(peer, LinkParameters(mtu: 23))

    /// A session of an app that scans and waits for a peer.
    private var session: KeptSession {
        var session = KeptSession(.central)
        session.note(.scan(ScanRequest()))
        session.note(.connect(Self.peer, ConnectRequest()))
        return session
    }

    @Test("The session keeps the latest request for a connection")
    func renewals() {
        var session = session
        let last = ConnectRequest(reconnects: true)
        session.note(.connect(Self.peer, last.renewal))
        session.note(.connect(PeerIdentifier(rawValue: 6), last.renewal))
        session.appEnded()
        guard case .central(let state)? = session.appReturned() else {
            Issue.record("nothing is restored")
            return
        }
        #expect(state.peers.map(\.peer) == [Self.peer])
        #expect(state.peers.map(\.request) == [last])
    }

    /// What such a session has the host asked for.
    private static let requests: [ClientRequest] = [.scan(ScanRequest()), .connect(peer, ConnectRequest())]

    @Test("Events are delivered while the app runs, and stored for its next launch if they concern it")
    func holding() {
        var session = session
        #expect(session.receive(Self.connected, canLaunch: true) == .deliver)
        session.appEnded()
        let other = ClientEvent.connected(PeerIdentifier(rawValue: 6), LinkParameters(mtu: 23))
        #expect(session.receive(other, canLaunch: true) == .drop)
        let lost = ClientEvent.disconnected(Self.peer, .timedOut, isReconnecting: false)
        #expect(session.receive(lost, canLaunch: true) == .hold(launches: true))
        guard case .central(let state)? = session.appReturned() else {
            Issue.record("nothing is restored")
            return
        }
        #expect(state.scan == ScanRequest() && state.peers.map(\.mtu) == [23])
        #expect(session.hasApp)
        #expect(session.receive(.knownPeers([]), canLaunch: true) == .deliver)
        let on = ClientEvent.stateChanged(.poweredOn)
        #expect(session.receive(on, canLaunch: true) == .deliverAll([on, lost], sending: []))
        #expect(session.receive(Self.connected, canLaunch: true) == .deliver)
    }

    /// What the next launch finds, and hears with the state of the radio.
    private func nextLaunch(of session: inout KeptSession) -> (PreservedCentral?, [ClientEvent]) {
        let restored = session.appReturned()
        guard case .deliverAll(let events, _) = session.receive(.stateChanged(.poweredOn), canLaunch: true) else {
            return (nil, [])
        }
        guard case .central(let state)? = restored else { return (nil, events) }
        return (state, events)
    }

    @Test("The session knows which events the app received when it returned, and which it missed before")
    func twice() {
        let lost = ClientEvent.disconnected(Self.peer, .timedOut, isReconnecting: false)
        var session = session
        _ = session.receive(Self.connected, canLaunch: true)
        session.appEnded()
        _ = session.receive(lost, canLaunch: true)
        _ = session.appReturned()
        session.appEnded()
        var (restored, events) = nextLaunch(of: &session)
        #expect(restored?.peers.map(\.mtu) == [23] && events == [.stateChanged(.poweredOn), lost])
        session.appEnded()
        (restored, events) = nextLaunch(of: &session)
        #expect(restored?.peers == [] && events == [.stateChanged(.poweredOn)])
    }

    @Test("The next launch finds a subscription whose response came too late for the app")
    func lateAnswer() {
        var session = session
        let handle = AttributeHandle(wire: 7)
        let answer = ClientEvent.peer(Self.peer, .subscriptionChanged(handle, .notifications, nil))
        _ = session.receive(Self.connected, canLaunch: true)
        session.appEnded()
        #expect(session.receive(answer, canLaunch: true) == .drop)
        let (restored, _) = nextLaunch(of: &session)
        #expect(restored?.peers.map(\.validEvents) == [[.subscriptionChanged(handle, .notifications, nil)]])
    }

    @Test(
        "The loss of the radio launches no app, and discards stored events",
        arguments: [
            ClientEvent.disconnected(peer, .poweredOff, isReconnecting: false), .connectFailed(peer, .poweredOff),
        ]
    )
    func radioLoss(event: ClientEvent) {
        var session = session
        session.appEnded()
        #expect(session.receive(Self.connected, canLaunch: true) == .hold(launches: true))
        #expect(session.receive(event, canLaunch: true) == .hold(launches: false))
        #expect(session.receive(.stateChanged(.resetting), canLaunch: true) == .drop)
        #expect(session.receive(.stateChanged(.poweredOn), canLaunch: true) == .send(Self.requests))
        let (restored, events) = nextLaunch(of: &session)
        #expect(restored?.peers.map(\.mtu) == [nil] && events == [.stateChanged(.poweredOn)])
    }

    @Test("A central's request to an app that cannot be launched is refused")
    func refusing() {
        var session = KeptSession(.peripheral)
        session.appEnded()
        let attribute = LocalAttributeID(rawValue: 1), transaction = ServerTransaction(rawValue: 9)
        let read = ClientEvent.server(
            .readRequested(transaction, RemoteCentral(peer: Self.peer, mtu: 23), attribute, offset: 0)
        )
        let answer = ClientRequest.service(.respond(transaction, .failure(.unlikelyError)))
        #expect(session.receive(read, canLaunch: false) == .refuse(answer))
        #expect(session.receive(read, canLaunch: true) == .hold(launches: true))
    }

    @Test("A session restored from storage repeats its requests once there is a radio, with or without its app")
    func continuing() {
        var away = KeptSession(continuing: session.state)
        #expect(away.receive(.stateChanged(.unsupported), canLaunch: false) == .drop)
        #expect(away.receive(.stateChanged(.poweredOn), canLaunch: false) == .send(Self.requests))
        #expect(away.receive(.stateChanged(.poweredOn), canLaunch: false) == .drop)
        var back = KeptSession(continuing: session.state)
        #expect(back.appReturned() == session.state)
        #expect(back.receive(.stateChanged(.resetting), canLaunch: false) == .deliver)
        let on = ClientEvent.stateChanged(.poweredOn)
        #expect(back.receive(on, canLaunch: false) == .deliverAll([on], sending: Self.requests))
        #expect(back.receive(.stateChanged(.poweredOn), canLaunch: false) == .deliver)
    }

    @Test("The session repeats its requests after the radio was lost, and ends when the user switches it off")
    func radio() {
        var session = session
        session.appEnded()
        #expect(session.receive(.stateChanged(.resetting), canLaunch: false) == .drop)
        #expect(session.receive(.stateChanged(.poweredOn), canLaunch: false) == .send(Self.requests))
        #expect(session.receive(.stateChanged(.poweredOff), canLaunch: false) == .dropSession)
    }

    @Test("If too many events wait for the next launch, the oldest is only recorded in the state")
    func limit() {
        let service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0x180D))
        let central = RemoteCentral(peer: Self.peer, mtu: 23), value = LocalAttributeID(rawValue: 2)
        var session = KeptSession(.peripheral)
        session.note(.service(.addService(service)))
        session.appEnded()
        for number in 0...KeptSession.mostHeld {
            let isOn = number % 2 == 0
            let event: ServerEvent = isOn ? .subscribed(central, to: value) : .unsubscribed(central, from: value)
            #expect(session.receive(.server(event), canLaunch: number % 4 < 2) == .hold(launches: true))
        }
        let subscriber = PreservedPeripheral.Subscriber(central: central, characteristic: value)
        let restored = PreservedPeripheral(services: [service], subscribers: [subscriber])
        #expect(session.appReturned() == .peripheral(restored))
        let on = ClientEvent.stateChanged(.poweredOn)
        guard case .deliverAll(let events, sending: []) = session.receive(on, canLaunch: true) else {
            Issue.record("the app receives nothing")
            return
        }
        #expect(events.count == 1 + KeptSession.mostHeld)
        #expect(events[1] == .server(.unsubscribed(central, from: value)))
    }

    @Test("A central's request that is displaced by later events is refused")
    func displaced() {
        var session = KeptSession(.peripheral)
        session.appEnded()
        let central = RemoteCentral(peer: Self.peer, mtu: 23), value = LocalAttributeID(rawValue: 2)
        let transaction = ServerTransaction(rawValue: 9), later = ClientEvent.server(.subscribed(central, to: value))
        let read = ClientEvent.server(.readRequested(transaction, central, value, offset: 0))
        #expect(session.receive(read, canLaunch: true) == .hold(launches: true))
        for _ in 1..<KeptSession.mostHeld { _ = session.receive(later, canLaunch: true) }
        let answer = ClientRequest.service(.respond(transaction, .failure(.unlikelyError)))
        #expect(session.receive(later, canLaunch: true) == .refuse(answer))
        #expect(session.receive(later, canLaunch: true) == .hold(launches: true))
    }

    /// What an app does about advertising, or hears of it.
    enum Step: Sendable {
        case start(String), stop, answer(Failure?)
    }

    @Test(
        "The session resumes the last successful advertisement, whatever else was refused",
        arguments: [
            ([.start("A"), .answer(nil), .start("B"), .answer(.alreadyInProgress)], "A"),
            ([.start("A"), .answer(nil), .start("B"), .answer(nil)], "B"),
            ([.start("A"), .answer(.invalidParameters)], nil),
            ([.start("A"), .start("B"), .answer(nil), .answer(.alreadyInProgress)], "A"),
            ([.start("A"), .start("B"), .answer(.invalidParameters), .answer(nil)], "B"),
            ([.start("A"), .answer(nil), .start("B"), .stop, .answer(.alreadyInProgress)], nil),
            ([.start("A"), .stop, .start("B"), .answer(nil), .answer(.alreadyInProgress)], nil),
            ([.start("A"), .answer(nil), .answer(.poweredOff)], nil),
        ] as [([Step], String?)]
    )
    func advertising(steps: [Step], name: String?) {
        var session = KeptSession(.peripheral)
        _ = session.receive(.stateChanged(.poweredOn), canLaunch: false)
        for step in steps {
            switch step {
            case .start(let name): session.note(.server(.startAdvertising(AdvertisingRequest(localName: name))))
            case .stop: session.note(.server(.stopAdvertising))
            case .answer(let failure): _ = session.receive(.server(.advertisingStarted(failure)), canLaunch: false)
            }
        }
        let expected = name.map { PreservedPeripheral(advertisement: AdvertisingRequest(localName: $0)) }
        #expect(session.state == .peripheral(expected ?? PreservedPeripheral()))
    }
}
