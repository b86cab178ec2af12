import BLEWire

/// The state of a session that is restored when its app is launched again.
///
/// The owner of this value records each request from the app and each event for the app. At its next launch, the app
/// receives the state as ``ClientEvent/restored(_:)``.
package enum PreservedState: Equatable, Sendable {
    case central(PreservedCentral)
    case peripheral(PreservedPeripheral)

    /// Creates the state of a new session.
    package init(_ role: ClientRole) {
        self =
            switch role {
            case .central: .central(PreservedCentral())
            case .peripheral: .peripheral(PreservedPeripheral())
            case .agent, .tester:
                preconditionFailure("agents and test sessions have no state to preserve")
            }
    }

    /// True if there is nothing to restore.
    package var isEmpty: Bool {
        switch self {
        case .central(let state): state == PreservedCentral()
        case .peripheral(let state): state == PreservedPeripheral()
        }
    }

    /// Records a request from the app.
    package mutating func note(_ request: ClientRequest) {
        switch self {
        case .central(var state):
            state.note(request)
            self = .central(state)
        case .peripheral(var state):
            state.note(request)
            self = .peripheral(state)
        }
    }

    /// Records an event for the app.
    package mutating func note(_ event: ClientEvent) {
        switch self {
        case .central(var state):
            state.note(event)
            self = .central(state)
        case .peripheral(var state):
            state.note(event)
            self = .peripheral(state)
        }
    }

    /// Records a restart of the machine or the loss of the radio, after which there are no links.
    package mutating func machineRestarted() {
        switch self {
        case .central(var state):
            state.machineRestarted()
            self = .central(state)
        case .peripheral(var state):
            state.subscribers = []
            self = .peripheral(state)
        }
    }

    /// The requests that establish this state on a host that does not have the session.
    package var requests: [ClientRequest] {
        switch self {
        case .central(let state): state.requests
        case .peripheral(let state): state.requests
        }
    }

    /// Returns whether to keep `event` for the app's next launch.
    ///
    /// The result is true for discoveries, for changes of the app's connections, and for events that a peer or link
    /// causes without a request from the app, except events about channels and security. It is false for all other
    /// events, and for events about peers that the app is no longer connected or connecting to.
    package func isRelevant(_ event: ClientEvent) -> Bool {
        switch event {
        case .discovered: return true
        case .connected(let peer, _), .connectFailed(let peer, _), .disconnected(let peer, _, _): return knows(peer)
        case .peer(let peer, let event, _): return knows(peer) && event.isUnsolicited
        case .server(let event): return event.isUnsolicited
        case .stateChanged, .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .channel, .security, .alert,
            .tester,
            .restored:
            return false
        }
    }

    private func knows(_ peer: PeerIdentifier) -> Bool {
        guard case .central(let state) = self else { return false }
        return state.peers.contains { $0.peer == peer }
    }
}

extension ClientEvent {
    /// True if a connection ended or failed because the radio was lost or switched off.
    var isOfRadio: Bool {
        switch self {
        case .connectFailed(_, .poweredOff), .disconnected(_, .poweredOff, _): true
        default: false
        }
    }

    /// True for events for which an app is launched.
    package var launchesApps: Bool {
        if isOfRadio { return false }
        return switch self {
        case .discovered, .connected, .connectFailed, .disconnected, .peer(_, .valueNotified, _),
            .peer(_, .servicesModified, _), .server(.subscribed), .server(.unsubscribed), .server(.readRequested),
            .server(.writeRequested):
            true
        case .stateChanged, .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .peer, .server, .channel,
            .security, .alert,
            .tester, .restored:
            false
        }
    }
}

extension PeerEvent {
    /// True for events that are caused by the peer or the link, not by a request from the app.
    fileprivate var isUnsolicited: Bool {
        switch self {
        case .mtuChanged, .nameChanged, .linkChanged, .valueNotified, .servicesModified: true
        case .tuned, .rssiRead, .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered,
            .descriptorsDiscovered, .valueRead, .valueWritten, .writeCommandsTaken, .subscriptionChanged,
            .databaseForgotten, .channelOpened:
            false
        }
    }
}

extension ServerEvent {
    /// True for events about a central that uses the app's services.
    ///
    /// False for the results of requests, for events about channels, and for the list of connected centrals.
    fileprivate var isUnsolicited: Bool {
        switch self {
        case .subscribed, .unsubscribed, .readRequested, .writeRequested, .centralChanged: true
        case .serviceAdded, .advertisingStarted, .updatesTaken, .confirmed, .centralsConnected, .channelPublished,
            .channelUnpublished, .channelOpened:
            false
        }
    }
}
