import BLEHost
import BLEWire

// The phases of a machine's apps, and the events that the apps receive in each.
extension WorldCore {
    /// The number of held events at which a machine begins to drop values for its suspended apps.
    ///
    /// From this number on, new values are dropped, and a new `systemLinks` event replaces the last one that is held
    /// for the same manager, if there is one. All other events are still held.
    private static let heldLimit = 1_024

    /// Sends the apps of a machine to the background, with `modes` as their background modes, or to the foreground if
    /// `modes` is `nil`.
    mutating func changePhase(ofAppsOn index: Int, to modes: BackgroundModes?) {
        stations[index].backgroundModes = modes
        for app in stations[index].apps.indices { stations[index].apps[app].lastWake = now }
        for (client, app) in clients.enumerated() {
            guard case .app(let session) = app, session.machine == index else { continue }
            sendPhase(to: ClientID(rawValue: client))
            guard stations[index].phase(of: session.role) != .suspended else { continue }
            deliveries += stations[index].held.filter { $0.client == client }
            stations[index].held.removeAll { $0.client == client }
        }
    }

    /// Tells the host whether a client's app is in the foreground, in the background or suspended, if the user allows
    /// the app to use the radio.
    mutating func sendPhase(to client: ClientID) {
        guard case .app(let session) = clients[client.rawValue], isAuthorized(session) else { return }
        perform(.appPhaseChanged(to: stations[session.machine].phase(of: session.role)), for: client)
    }

    /// Delivers an event to an app: now, or when the app is no longer suspended.
    ///
    /// While the app is suspended, requests from centrals are refused, and discovered devices are not reported.
    mutating func deliver(_ event: ClientEvent, to session: WorldSession, _ client: ClientID) {
        let station = stations[session.machine]
        station.learnNames(event)
        guard station.phase(of: session.role) == .suspended else {
            return deliveries.append((client.rawValue, event))
        }
        alert(event, instead: session, client)
        switch event {
        case .server(.readRequested), .server(.writeRequested): refuse(event, for: session.client, on: session.machine)
        case .discovered: break
        case .systemLinks: holdLinks(event, for: client, of: session)
        case .peer(_, .valueNotified, _): holdValue(event, for: client, of: session)
        default: station.held.append((client.rawValue, event))
        }
    }

    /// Holds a `systemLinks` event for a suspended app.
    ///
    /// If the machine already holds ``heldLimit`` events, the new event replaces the manager's last held `systemLinks`
    /// event, if there is one.
    private mutating func holdLinks(_ event: ClientEvent, for client: ClientID, of session: WorldSession) {
        let station = stations[session.machine]
        if station.held.count >= Self.heldLimit,
            let place = station.held.lastIndex(where: { $0.client == client.rawValue && $0.event.isOfLinks })
        {
            station.held.remove(at: place)
        }
        station.held.append((client.rawValue, event))
    }

    /// Holds a value for a suspended app.
    ///
    /// If the machine already holds ``heldLimit`` events, drops the value and records a ``World/Finding``.
    private mutating func holdValue(_ event: ClientEvent, for client: ClientID, of session: WorldSession) {
        let station = stations[session.machine]
        guard station.held.count >= Self.heldLimit else { return station.held.append((client.rawValue, event)) }
        let sentence = "the app is suspended with \(Self.heldLimit) events queued, and misses further values"
        find(PossibleFinding(rule: .missedValues, sentence: sentence), machine: session.machine, app: session.app)
    }
}

extension ClientEvent {
    /// True for a `systemLinks` event, which lists the current links of the machine.
    fileprivate var isOfLinks: Bool { if case .systemLinks = self { true } else { false } }
}
