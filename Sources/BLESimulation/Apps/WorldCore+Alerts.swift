import BLEHost
import BLEWire

// Alerts that the system shows in place of suspended apps, and the user's permissions for apps.
extension WorldCore {
    /// The maximum number of alerts per machine.
    private static let mostAlerts = 1_024

    /// Records the alerts that an app requests for events that occur while it is suspended.
    func recordRequestedAlerts(_ request: ClientRequest, for client: ClientID, on index: Int) {
        stations[index].requestedAlerts[client.rawValue, default: RequestedAlerts()].note(request)
    }

    /// Shows an alert for an event that a suspended app does not receive, if the app has requested alerts for such
    /// events.
    func alert(_ event: ClientEvent, instead session: WorldSession, _ client: ClientID) {
        let station = stations[session.machine]
        guard let (occasion, peer) = station.requestedAlerts[client.rawValue]?.occasion(of: event) else { return }
        let app = station.apps[session.app].name
        let alert = ClientAlert(occasion, of: app, with: peer, called: station.names[peer])
        show(Machine.Alert.Occasion(occasion), alert.text, by: app, on: station)
    }

    private func show(_ occasion: Machine.Alert.Occasion, _ text: String, by app: String, on station: MachineState) {
        if station.alerts.count >= Self.mostAlerts { station.alerts.removeFirst() }
        station.alerts.append(Machine.Alert(occasion: occasion, app: app, text: text, time: now - Instant()))
    }

    /// Returns whether the user allows a session's app to use the radio.
    func isAuthorized(_ session: WorldSession) -> Bool {
        stations[session.machine].apps[session.app].authorization == .allowed
    }

    /// Reports to a manager that its app may not use the radio, or asks the user if they have not decided yet.
    mutating func reportMissingPermission(_ session: WorldSession, _ client: ClientID) {
        let station = stations[session.machine], app = station.apps[session.app]
        switch app.authorization {
        case .allowed: break
        case .denied, .restricted: deliver(.stateChanged(.unauthorized), to: session, client)
        case .notDetermined:
            let isAsked = station.alerts.contains { $0.occasion == .authorization && $0.app == app.name }
            guard !isAsked else { return }
            show(.authorization, "“\(app.name)” would like to use Bluetooth.", by: app.name, on: station)
        }
    }

    /// Sets the user's decision about an app, which may be running.
    mutating func authorize(_ app: Int, on index: Int, _ authorization: Machine.Authorization) {
        processInbox()
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
                if authorization == .notDetermined { deliver(.stateChanged(.unknown), to: session, client) }
            }
            if authorization == .allowed {
                station.host.open(session.client, role: session.role, of: session.owner, at: now)
                sendPhase(to: client)
            } else {
                reportMissingPermission(session, client)
            }
        }
        markDirty(index)
        settle()
    }
}

extension Machine.Alert.Occasion {
    fileprivate init(_ occasion: ClientAlert.Occasion) {
        switch occasion {
        case .connection: self = .connection
        case .disconnection: self = .disconnection
        case .notification: self = .notification
        }
    }
}
