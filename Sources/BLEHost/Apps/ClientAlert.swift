import BLEWire

/// An alert for the user about an event that concerns a suspended app.
package struct ClientAlert: Equatable, Sendable {
    package enum Occasion: Equatable, Sendable, CaseIterable {
        /// A connection was established.
        case connection
        /// A connection was lost.
        case disconnection
        /// The peer sent a notification or indication.
        case notification
    }

    package var occasion: Occasion
    /// The name of the app.
    package var app: String
    package var peer: PeerIdentifier
    /// The name of the peer; `nil` if the app does not know it.
    package var name: String?

    package init(_ occasion: Occasion, of app: String, with peer: PeerIdentifier, called name: String?) {
        self.occasion = occasion
        self.app = app
        self.peer = peer
        self.name = name
    }

    /// The English sentence that tells the user about the event.
    package var text: String {
        let what =
            switch occasion {
            case .connection: "is connected to"
            case .disconnection: "lost its connection to"
            case .notification: "received a notification from"
            }
        return "\(app) \(what) \(name.map { "“\($0)”" } ?? "an unnamed device")."
    }
}

/// The alerts that an app has requested, by peer.
package struct RequestedAlerts: Equatable, Sendable {
    /// The maximum number of peers with alerts; further requests for alerts are ignored.
    package static let mostPeers = 1_024

    private struct Request: Equatable {
        let peer: PeerIdentifier
        let alerts: ConnectionAlerts
    }

    private var requested: [Request] = []

    package init() {}

    /// True if no alerts are requested.
    package var isEmpty: Bool { requested.isEmpty }

    /// Records the alerts that a connection request asks for; a cancellation removes them.
    ///
    /// Other requests have no effect.
    package mutating func note(_ request: ClientRequest) {
        switch request {
        case .connect(let peer, let request): setAlerts(to: request.alerts, of: peer)
        case .cancelConnection(let peer): setAlerts(to: [], of: peer)
        default: break
        }
    }

    /// Records the alerts that an earlier launch of the app requested, if the event restores the state of a central.
    ///
    /// Other events have no effect.
    package mutating func note(_ event: ClientEvent) {
        guard case .restored(.central(let central)) = event else { return }
        for peer in central.peers { setAlerts(to: peer.request.alerts, of: peer.peer) }
    }

    private mutating func setAlerts(to alerts: ConnectionAlerts, of peer: PeerIdentifier) {
        requested.removeAll { $0.peer == peer }
        guard !alerts.isEmpty, requested.count < Self.mostPeers else { return }
        requested.append(Request(peer: peer, alerts: alerts))
    }

    /// Returns the occasion and the peer of the alert for an event that the suspended app does not receive; `nil` if
    /// the event causes no alert.
    package func occasion(of event: ClientEvent) -> (ClientAlert.Occasion, PeerIdentifier)? {
        guard !requested.isEmpty else { return nil }
        let peer: PeerIdentifier, alert: ConnectionAlerts, occasion: ClientAlert.Occasion
        switch event {
        case .connected(let other, _): (peer, alert, occasion) = (other, .connection, .connection)
        case .disconnected(let other, .some, _): (peer, alert, occasion) = (other, .disconnection, .disconnection)
        case .peer(let other, .valueNotified, _): (peer, alert, occasion) = (other, .notification, .notification)
        default: return nil
        }
        return requested.contains { $0.peer == peer && $0.alerts.contains(alert) } ? (occasion, peer) : nil
    }
}
