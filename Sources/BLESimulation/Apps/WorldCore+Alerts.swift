import BLEHost
import BLEWire

// What the system tells the user in the place of apps, and what the user allows them.
extension WorldCore {
    /// How many alerts of a machine are kept.
    private static let mostAlerts = 1_024

    /// Notes what an app wants its user to be told while it sleeps.
    mutating func noteAlerts(_ request: ClientRequest, for client: ClientID, on index: Int) {
        guard case .connect(let peer, let request) = request else { return }
        let station = stations[index]
        station.wishes.removeAll { $0.client == client.rawValue && $0.peer == peer }
        guard !request.alerts.isEmpty else { return }
        station.wishes.append(AlertWish(client: client.rawValue, peer: peer, alerts: request.alerts))
    }

    /// Tells the user what an app that sleeps does not hear, if the app wanted that.
    func alert(_ event: ClientEvent, instead session: WorldSession, _ client: ClientID) {
        let peer: PeerIdentifier, wish: ConnectionAlerts, occasion: Machine.Alert.Occasion, text: String
        switch event {
        case .connected(let other, _):
            (peer, wish, occasion, text) = (other, .connection, .connection, "is connected to")
        case .disconnected(let other, .some, _):
            (peer, wish, occasion, text) = (other, .disconnection, .disconnection, "has lost the connection to")
        case .peer(let other, .valueNotified):
            (peer, wish, occasion, text) = (other, .notification, .notification, "has a notification from")
        default: return
        }
        let station = stations[session.machine]
        let isWanted = station.wishes.contains {
            $0.client == client.rawValue && $0.peer == peer && $0.alerts.contains(wish)
        }
        guard isWanted else { return }
        let app = station.apps[session.app].name, name = station.names[peer] ?? "a device without a name"
        show(occasion, "\(app) \(text) “\(name)”.", by: app, on: station)
    }

    private func show(_ occasion: Machine.Alert.Occasion, _ text: String, by app: String, on station: Station) {
        if station.alerts.count >= Self.mostAlerts { station.alerts.removeFirst() }
        station.alerts.append(Machine.Alert(occasion: occasion, app: app, text: text, time: now - Instant()))
    }

    /// Whether the user lets the app of a session use the radio.
    func isAuthorized(_ session: WorldSession) -> Bool {
        stations[session.machine].apps[session.app].authorization == .allowed
    }

    /// Tells a manager of an app that may not use the radio so, or asks the user first.
    mutating func turnAway(_ session: WorldSession, _ client: ClientID) {
        let station = stations[session.machine], app = station.apps[session.app]
        switch app.authorization {
        case .allowed: break
        case .denied, .restricted: tell(session, client, .stateChanged(.unauthorized))
        case .notDetermined:
            let isAsked = station.alerts.contains { $0.occasion == .authorization && $0.app == app.name }
            guard !isAsked else { return }
            show(.authorization, "“\(app.name)” would like to use Bluetooth.", by: app.name, on: station)
        }
    }

    /// Has the user decide on an app, which may run already.
    mutating func authorize(_ app: Int, on index: Int, _ authorization: Machine.Authorization) {
        hear()
        let station = stations[index], was = station.apps[app].authorization
        guard authorization != was else { return }
        station.apps[app].authorization = authorization
        if authorization != .allowed {
            for session in restorable where session.machine == index && session.app == app { giveUp(session.client) }
        }
        for (number, client) in clients.enumerated() {
            guard case .app(let session) = client, session.machine == index, session.app == app else { continue }
            let client = ClientID(rawValue: number)
            if was == .allowed {
                station.host.close(session.client, at: now)
                if authorization == .notDetermined { tell(session, client, .stateChanged(.unknown)) }
            }
            if authorization == .allowed {
                station.host.open(session.client, role: session.role, at: now)
                tellPhase(to: client)
            } else {
                turnAway(session, client)
            }
        }
        markDirty(index)
        settle()
    }
}
