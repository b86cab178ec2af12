import BLEHost
import BLERuntime
import BLESession

/// A session with a restore identifier, whose app may be running or not.
///
/// Sendable because everything happens on the thread of the daemon's loop.
final class KeptSessionEntry: @unchecked Sendable {
    let key: AppKey
    let session: RemoteAppSession
    /// The app's last description of itself; `nil` if the app sent none.
    private(set) var description: AppDescription?
    /// True if the stored record is no longer up to date.
    private(set) var isChanged = true
    /// True if the session cannot continue and must be dropped.
    private(set) var mustBeDropped = false

    private var kept: KeptSession

    /// Creates the entry of a session whose app is connected.
    init(_ key: AppKey, _ description: AppDescription?, _ session: RemoteAppSession) {
        self.key = key
        self.description = description
        self.session = session
        kept = KeptSession(key.role)
    }

    /// Creates the entry of a session that an earlier run of the daemon has stored.
    init(_ record: KeptRecord, _ session: RemoteAppSession) {
        key = record.key
        description = record.description
        self.session = session
        kept = KeptSession(continuing: record.state)
    }

    var hasApp: Bool { kept.hasApp }

    /// The properties for the next launch of the app.
    var launch: AppLaunch { AppLaunch(key, description) }

    /// Returns a description of the session, as `ble` shows it.
    ///
    /// `radio` is the name of the session's radio.
    func sessionInfo(radio: String) -> SessionInfo {
        SessionDescription(key, radio: radio, keeping: kept.state).sessionInfo
    }

    /// Ends the link to a peer, or all links if `peer` is `nil`; returns whether there were any.
    func endLinks(to peer: PeerIdentifier?) -> Bool {
        let links = sessionInfo(radio: "").links.map(\.peer).filter { [$0, nil].contains(peer) }
        for peer in links { session.perform(.cancelConnection(peer)) }
        return !links.isEmpty
    }

    /// Returns the record to store, and marks the stored record as up to date.
    func takeRecord() -> KeptRecord {
        isChanged = false
        return KeptRecord(key: key, state: kept.state, description: description)
    }

    /// Records a request from the app.
    func note(_ request: ClientRequest) {
        kept.note(request)
        if request.isKept { isChanged = true }
    }

    /// Sets the permissions of an app that is not running, and ends everything that the permissions do not allow.
    func apply(_ grant: Grant) {
        var gate = SessionFilter(grant, for: key.role)
        _ = gate.filter(.restored(kept.state))
        for request in gate.takeWithdrawals() {
            note(request)
            session.perform(request)
        }
    }

    /// Records that the app has ended.
    func appEnded() {
        kept.appEnded()
        isChanged = true
        session.appEnded()
    }

    /// Records that the app was launched again with this description, and passes the event that contains the session's
    /// preserved state to `handler`.
    func appReturned(_ description: AppDescription?, _ handler: (ClientEvent) -> Void) {
        self.description = description
        isChanged = true
        if let restored = kept.appReturned() { handler(.restored(restored)) }
        session.appReturned()
    }

    /// Processes an event from the host, and calls `handler` with each event that the running app is to receive.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - canLaunch: True if the app can be launched for the event.
    ///   - handler: Called with the events, in order.
    /// - Returns: True if the app must be launched.
    func receive(_ event: ClientEvent, canLaunch: Bool, _ handler: (ClientEvent) -> Void) -> Bool {
        switch kept.receive(event, canLaunch: canLaunch) {
        case .deliver: deliver(event, handler)
        case .deliverAll(let events, let requests):
            for event in events { deliver(event, handler) }
            for request in requests { session.perform(request) }
        case .hold(let launches): return launches
        case .refuse(let answer): session.perform(answer)
        case .send(let requests): for request in requests { session.perform(request) }
        case .dropSession:
            mustBeDropped = true
            isChanged = true
        case .drop: break
        }
        return false
    }

    private func deliver(_ event: ClientEvent, _ handler: (ClientEvent) -> Void) {
        if event.isKept { isChanged = true }
        handler(event)
    }
}

extension ClientRequest {
    /// True if the request changes the stored session.
    fileprivate var isKept: Bool {
        switch self {
        case .scan, .stopScan, .connect, .cancelConnection, .server(.startAdvertising), .server(.stopAdvertising),
            .service(.addService), .service(.removeService), .service(.removeAllServices):
            true
        case .peer, .server, .service, .channel, .security, .tester, .appPhaseChanged, .showAlerts: false
        }
    }
}

extension ClientEvent {
    /// True if the event changes the stored session.
    fileprivate var isKept: Bool {
        switch self {
        case .connectFailed, .disconnected(_, _, isReconnecting: false), .server(.serviceAdded(_, .some)),
            .server(.advertisingStarted(.some)):
            true
        default: false
        }
    }
}
