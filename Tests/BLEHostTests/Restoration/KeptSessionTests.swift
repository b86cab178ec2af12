import BLEHost
import BLEWire
import Testing

@Suite("A session that goes on without its app")
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

    @Test("keeps how a connection was asked for last")
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

    @Test("has the app told while it is there, and holds for its next launch what concerns it")
    func holding() {
        var session = session
        #expect(session.hear(Self.connected, canLaunch: true) == .tell)
        session.appEnded()
        let other = ClientEvent.connected(PeerIdentifier(rawValue: 6), LinkParameters(mtu: 23))
        #expect(session.hear(other, canLaunch: true) == .drop)
        let lost = ClientEvent.disconnected(Self.peer, .timedOut, isReconnecting: false)
        #expect(session.hear(lost, canLaunch: true) == .hold(launches: true))
        guard case .central(let state)? = session.appReturned() else {
            Issue.record("nothing is restored")
            return
        }
        #expect(state.scan == ScanRequest() && state.peers.map(\.mtu) == [23])
        #expect(session.hasApp)
        #expect(session.hear(.knownPeers([]), canLaunch: true) == .tell)
        let on = ClientEvent.stateChanged(.poweredOn)
        #expect(session.hear(on, canLaunch: true) == .tellAll([on, lost], asking: []))
        #expect(session.hear(Self.connected, canLaunch: true) == .tell)
    }

    /// What the next launch finds, and hears with the state of the radio.
    private func nextLaunch(of session: inout KeptSession) -> (PreservedCentral?, [ClientEvent]) {
        let restored = session.appReturned()
        guard case .tellAll(let events, _) = session.hear(.stateChanged(.poweredOn), canLaunch: true) else {
            return (nil, [])
        }
        guard case .central(let state)? = restored else { return (nil, events) }
        return (state, events)
    }

    @Test("knows what an app heard at its return, and what it did not hear when it ended before")
    func twice() {
        let lost = ClientEvent.disconnected(Self.peer, .timedOut, isReconnecting: false)
        var session = session
        _ = session.hear(Self.connected, canLaunch: true)
        session.appEnded()
        _ = session.hear(lost, canLaunch: true)
        _ = session.appReturned()
        session.appEnded()
        var (restored, events) = nextLaunch(of: &session)
        #expect(restored?.peers.map(\.mtu) == [23] && events == [.stateChanged(.poweredOn), lost])
        session.appEnded()
        (restored, events) = nextLaunch(of: &session)
        #expect(restored?.peers == [] && events == [.stateChanged(.poweredOn)])
    }

    @Test("has its next launch find what was subscribed to when the answer came too late for the app")
    func lateAnswer() {
        var session = session
        let handle = AttributeHandle(wire: 7)
        let answer = ClientEvent.peer(Self.peer, .subscriptionChanged(handle, .notifications, nil))
        _ = session.hear(Self.connected, canLaunch: true)
        session.appEnded()
        #expect(session.hear(answer, canLaunch: true) == .drop)
        let (restored, _) = nextLaunch(of: &session)
        #expect(restored?.peers.map(\.learnt) == [[.subscriptionChanged(handle, .notifications, nil)]])
    }

    @Test(
        "launches no app for what ends with the radio, and what was held before that is over",
        arguments: [
            ClientEvent.disconnected(peer, .poweredOff, isReconnecting: false), .connectFailed(peer, .poweredOff),
        ]
    )
    func radioLoss(event: ClientEvent) {
        var session = session
        session.appEnded()
        #expect(session.hear(Self.connected, canLaunch: true) == .hold(launches: true))
        #expect(session.hear(event, canLaunch: true) == .hold(launches: false))
        #expect(session.hear(.stateChanged(.resetting), canLaunch: true) == .drop)
        #expect(session.hear(.stateChanged(.poweredOn), canLaunch: true) == .ask(Self.requests))
        let (restored, events) = nextLaunch(of: &session)
        #expect(restored?.peers.map(\.mtu) == [nil] && events == [.stateChanged(.poweredOn)])
    }

    @Test("refuses what a central asks of an app that nobody launches")
    func refusing() {
        var session = KeptSession(.peripheral)
        session.appEnded()
        let attribute = LocalAttributeID(rawValue: 1), transaction = ServerTransaction(rawValue: 9)
        let read = ClientEvent.server(
            .readRequested(transaction, RemoteCentral(peer: Self.peer, mtu: 23), attribute, offset: 0)
        )
        let answer = ClientRequest.service(.respond(transaction, .failure(.unlikelyError)))
        #expect(session.hear(read, canLaunch: false) == .refuse(answer))
        #expect(session.hear(read, canLaunch: true) == .hold(launches: true))
    }

    @Test("that was kept elsewhere asks the host for all again as soon as there is a radio, with its app or without")
    func continuing() {
        var away = KeptSession(continuing: session.state)
        #expect(away.hear(.stateChanged(.unsupported), canLaunch: false) == .drop)
        #expect(away.hear(.stateChanged(.poweredOn), canLaunch: false) == .ask(Self.requests))
        #expect(away.hear(.stateChanged(.poweredOn), canLaunch: false) == .drop)
        var back = KeptSession(continuing: session.state)
        #expect(back.appReturned() == session.state)
        #expect(back.hear(.stateChanged(.resetting), canLaunch: false) == .tell)
        let on = ClientEvent.stateChanged(.poweredOn)
        #expect(back.hear(on, canLaunch: false) == .tellAll([on], asking: Self.requests))
        #expect(back.hear(.stateChanged(.poweredOn), canLaunch: false) == .tell)
    }

    @Test("is asked for again when the radio was gone, and given up when the user switches it off")
    func radio() {
        var session = session
        session.appEnded()
        #expect(session.hear(.stateChanged(.resetting), canLaunch: false) == .drop)
        #expect(session.hear(.stateChanged(.poweredOn), canLaunch: false) == .ask(Self.requests))
        #expect(session.hear(.stateChanged(.poweredOff), canLaunch: false) == .giveUp)
    }

    @Test("is given up when more waits than the next launch would hear")
    func limit() {
        var session = session
        session.appEnded()
        for _ in 0..<KeptSession.mostHeld {
            #expect(session.hear(Self.connected, canLaunch: true) == .hold(launches: true))
        }
        #expect(session.hear(Self.connected, canLaunch: true) == .giveUp)
    }

    /// What an app does about advertising, or hears of it.
    enum Step: Sendable {
        case start(String), stop, answer(Failure?)
    }

    @Test(
        "advertises again what was on the air, whatever else was refused",
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
        _ = session.hear(.stateChanged(.poweredOn), canLaunch: false)
        for step in steps {
            switch step {
            case .start(let name): session.note(.server(.startAdvertising(AdvertisingRequest(localName: name))))
            case .stop: session.note(.server(.stopAdvertising))
            case .answer(let failure): _ = session.hear(.server(.advertisingStarted(failure)), canLaunch: false)
            }
        }
        let expected = name.map { PreservedPeripheral(advertisement: AdvertisingRequest(localName: $0)) }
        #expect(session.state == .peripheral(expected ?? PreservedPeripheral()))
    }
}
