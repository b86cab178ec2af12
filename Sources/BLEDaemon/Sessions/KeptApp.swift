import BLEHost
import BLERuntime
import BLESession

/// A session with a restore identifier, with its app or without.
///
/// Sendable because everything happens on the thread of the daemon's loop.
final class KeptApp: @unchecked Sendable {
    let key: AppKey
    let session: ServedSession
    /// What the app said of itself when it came last.
    private(set) var description: AppDescription?
    /// Whether what is written down of it is out of date.
    private(set) var isChanged = true
    /// Whether nothing is left of it.
    private(set) var isGivenUp = false

    private var kept: KeptSession

    /// The session of an app that is there.
    init(_ key: AppKey, _ description: AppDescription?, _ session: ServedSession) {
        self.key = key
        self.description = description
        self.session = session
        kept = KeptSession(key.role)
    }

    /// A session that was kept before the daemon was started.
    init(_ record: KeptRecord, _ session: ServedSession) {
        key = record.key
        description = record.description
        self.session = session
        kept = KeptSession(continuing: record.state)
    }

    var hasApp: Bool { kept.hasApp }

    /// By what it is launched again.
    var launch: AppLaunch { AppLaunch(key, description) }

    /// The session, for people, where its radio has this name.
    func fact(radio: String) -> AppFact { SessionFacts(key, radio: radio, keeping: kept.state).told }

    /// The user ends the link to a peer, or all; whether there was any.
    func endLinks(to peer: PeerIdentifier?) -> Bool {
        let links = fact(radio: "").links.map(\.peer).filter { [$0, nil].contains(peer) }
        for peer in links { session.perform(.cancelConnection(peer)) }
        return !links.isEmpty
    }

    /// What to write down.
    func takeRecord() -> KeptRecord {
        isChanged = false
        return KeptRecord(key: key, state: kept.state, description: description)
    }

    /// The app asks for something.
    func note(_ request: ClientRequest) {
        kept.note(request)
        if request.isKept { isChanged = true }
    }

    /// The app, which is not there, may do this: what it may not do ends here.
    func obey(_ grant: Grant) {
        var gate = SessionGate(grant, for: key.role)
        _ = gate.admit(.restored(kept.state))
        for request in gate.takeWithdrawals() {
            note(request)
            session.perform(request)
        }
    }

    /// The app has ended.
    func appEnded() {
        kept.appEnded()
        isChanged = true
        session.appEnded()
    }

    /// The app was launched again and says this of itself; `told` hears where it was.
    func appReturned(_ description: AppDescription?, _ told: (ClientEvent) -> Void) {
        self.description = description
        isChanged = true
        if let restored = kept.appReturned() { told(.restored(restored)) }
        session.appReturned()
    }

    /// The host says something; `told` hears what the app that is there is to hear now.
    ///
    /// - Returns: Whether the app is to be launched.
    func hear(_ event: ClientEvent, canLaunch: Bool, _ told: (ClientEvent) -> Void) -> Bool {
        switch kept.hear(event, canLaunch: canLaunch) {
        case .tell: tell(event, told)
        case .tellAll(let events, let requests):
            for event in events { tell(event, told) }
            for request in requests { session.perform(request) }
        case .hold(let launches): return launches
        case .refuse(let answer): session.perform(answer)
        case .ask(let requests): for request in requests { session.perform(request) }
        case .giveUp:
            isGivenUp = true
            isChanged = true
        case .drop: break
        }
        return false
    }

    private func tell(_ event: ClientEvent, _ told: (ClientEvent) -> Void) {
        if event.isKept { isChanged = true }
        told(event)
    }
}

extension ClientRequest {
    /// Whether a next launch of the app is told of it.
    fileprivate var isKept: Bool {
        switch self {
        case .scan, .stopScan, .connect, .cancelConnection, .server(.startAdvertising), .server(.stopAdvertising),
            .service(.addService), .service(.removeService), .service(.removeAllServices):
            true
        case .peer, .server, .service, .channel, .security, .tester, .appMoved, .showAlerts: false
        }
    }
}

extension ClientEvent {
    /// Whether what is kept of a session changes with it, and outlives the daemon.
    fileprivate var isKept: Bool {
        switch self {
        case .connectFailed, .disconnected(_, _, isReconnecting: false), .server(.serviceAdded(_, .some)),
            .server(.advertisingStarted(.some)):
            true
        default: false
        }
    }
}
