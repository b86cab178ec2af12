import BLEHost
import BLEWire

// What the apps of a machine may do, and what they hear.
extension WorldCore {
    /// The maximum number of events that are held for suspended apps.
    ///
    /// Beyond it, values and all but the last link change are dropped.
    private static let heldLimit = 1_024

    /// Sends the apps of a machine to the background with these modes, or to the foreground.
    mutating func moveApps(of index: Int, to modes: BackgroundModes?) {
        stations[index].backgroundModes = modes
        for app in stations[index].apps.indices { stations[index].apps[app].woken = now }
        for (client, app) in clients.enumerated() {
            guard case .app(let session) = app, session.machine == index else { continue }
            tellPhase(to: ClientID(rawValue: client))
            guard stations[index].phase(of: session.role) != .suspended else { continue }
            deliveries += stations[index].held.filter { $0.client == client }
            stations[index].held.removeAll { $0.client == client }
        }
    }

    /// Tells the host the phase of a client's app, unless it is the default.
    mutating func tellPhase(to client: ClientID) {
        guard case .app(let session) = clients[client.rawValue], isAuthorized(session) else { return }
        perform(.appMoved(to: stations[session.machine].phase(of: session.role)), for: client)
    }

    /// Delivers an event to an app, now or when it is not suspended any more.
    mutating func tell(_ session: WorldSession, _ client: ClientID, _ event: ClientEvent) {
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

    /// Holds the current links for a suspended app, replacing earlier ones if much is held.
    private mutating func holdLinks(_ event: ClientEvent, for client: ClientID, of session: WorldSession) {
        let station = stations[session.machine]
        if station.held.count >= Self.heldLimit,
            let place = station.held.lastIndex(where: { $0.client == client.rawValue && $0.event.isOfLinks })
        {
            station.held.remove(at: place)
        }
        station.held.append((client.rawValue, event))
    }

    /// Holds a value for a suspended app, if there is room.
    private mutating func holdValue(_ event: ClientEvent, for client: ClientID, of session: WorldSession) {
        let station = stations[session.machine]
        guard station.held.count >= Self.heldLimit else { return station.held.append((client.rawValue, event)) }
        let sentence = "the app is suspended with \(Self.heldLimit) events queued, and misses further values"
        find(Suspicion(rule: .missedValues, sentence: sentence), machine: session.machine, app: session.app)
    }
}

extension ClientEvent {
    /// True for the event with the current links.
    fileprivate var isOfLinks: Bool { if case .systemLinks = self { true } else { false } }
}
