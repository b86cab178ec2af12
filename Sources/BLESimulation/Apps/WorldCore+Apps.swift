import BLEHost
import BLEWire

// What the apps of a machine may do, and what they hear.
extension WorldCore {
    /// How many events a sleeping app hears of later; beyond that it misses values and changes of links.
    private static let heldLimit = 1_024

    /// Puts the apps of a machine into the background, with these modes, or into the foreground.
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

    /// Tells the host how far the app of a client is in use, unless it is as always.
    mutating func tellPhase(to client: ClientID) {
        guard case .app(let session) = clients[client.rawValue], isAuthorized(session) else { return }
        perform(.appMoved(to: stations[session.machine].phase(of: session.role)), for: client)
    }

    /// Has an app hear of something, now or when it is at work again.
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
        case .systemLinks, .peer(_, .valueNotified, _):
            if station.held.count < Self.heldLimit { station.held.append((client.rawValue, event)) }
        default: station.held.append((client.rawValue, event))
        }
    }
}
