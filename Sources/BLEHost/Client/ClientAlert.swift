import BLEWire

/// What the user is told in the place of an app that sleeps.
package struct ClientAlert: Equatable, Sendable {
    package enum Occasion: Equatable, Sendable, CaseIterable {
        /// A connection was made.
        case connection
        /// A connection was lost.
        case disconnection
        /// The peer sent a value by itself.
        case notification
    }

    package var occasion: Occasion
    /// What the app is called.
    package var app: String
    package var peer: PeerIdentifier
    /// What the peer is called, as far as the app knows.
    package var name: String?

    package init(_ occasion: Occasion, of app: String, with peer: PeerIdentifier, called name: String?) {
        self.occasion = occasion
        self.app = app
        self.peer = peer
        self.name = name
    }

    /// The sentence that says so.
    package var text: String {
        let what =
            switch occasion {
            case .connection: "is connected to"
            case .disconnection: "has lost the connection to"
            case .notification: "has a notification from"
            }
        return "\(app) \(what) “\(name ?? "a device without a name")”."
    }
}

/// Of what an app wants its user to be told while it sleeps, peer by peer.
package struct AlertWishes: Equatable, Sendable {
    /// Of how many peers.
    package static let mostPeers = 1_024

    private struct Wish: Equatable {
        let peer: PeerIdentifier
        let alerts: ConnectionAlerts
    }

    private var wishes: [Wish] = []

    package init() {}

    /// Whether the user is told nothing, whatever happens.
    package var isEmpty: Bool { wishes.isEmpty }

    /// The app asks for something.
    package mutating func note(_ request: ClientRequest) {
        switch request {
        case .connect(let peer, let request): wish(for: request.alerts, of: peer)
        case .cancelConnection(let peer): wish(for: [], of: peer)
        default: break
        }
    }

    /// The app hears something, such as what an earlier launch of it has asked for.
    package mutating func note(_ event: ClientEvent) {
        guard case .restored(.central(let central)) = event else { return }
        for peer in central.peers { wish(for: peer.request.alerts, of: peer.peer) }
    }

    private mutating func wish(for alerts: ConnectionAlerts, of peer: PeerIdentifier) {
        wishes.removeAll { $0.peer == peer }
        guard !alerts.isEmpty, wishes.count < Self.mostPeers else { return }
        wishes.append(Wish(peer: peer, alerts: alerts))
    }

    /// What the user is to be told if the app does not hear this event; `nil` for nothing.
    package func occasion(of event: ClientEvent) -> (ClientAlert.Occasion, PeerIdentifier)? {
        guard !wishes.isEmpty else { return nil }
        let peer: PeerIdentifier, alert: ConnectionAlerts, occasion: ClientAlert.Occasion
        switch event {
        case .connected(let other, _): (peer, alert, occasion) = (other, .connection, .connection)
        case .disconnected(let other, .some, _): (peer, alert, occasion) = (other, .disconnection, .disconnection)
        case .peer(let other, .valueNotified, _): (peer, alert, occasion) = (other, .notification, .notification)
        default: return nil
        }
        return wishes.contains { $0.peer == peer && $0.alerts.contains(alert) } ? (occasion, peer) : nil
    }
}
