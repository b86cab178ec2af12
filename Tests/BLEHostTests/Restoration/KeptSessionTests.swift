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
        let (restored, held) = session.appReturned()
        guard case .central(let state)? = restored else {
            Issue.record("nothing is restored")
            return
        }
        #expect(state.scan == ScanRequest() && state.peers.map(\.mtu) == [23] && held == [lost])
        #expect(session.hasApp)
    }

    @Test("refuses what a central asks of an app that nobody launches")
    func refusing() {
        var session = KeptSession(.peripheral)
        session.appEnded()
        let attribute = LocalAttributeID(rawValue: 1), transaction = ServerTransaction(rawValue: 9)
        let read = ClientEvent.server(
            .readRequested(transaction, RemoteCentral(peer: Self.peer, mtu: 23), attribute, offset: 0)
        )
        let answer = ClientRequest.server(.respond(transaction, .failure(.unlikelyError)))
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
        #expect(back.appReturned().restored == session.state)
        #expect(back.hear(.stateChanged(.resetting), canLaunch: false) == .tell)
        #expect(back.hear(.stateChanged(.poweredOn), canLaunch: false) == .tellAndAsk(Self.requests))
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
}
