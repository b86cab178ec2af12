import BLEWire

/// What a session would have to ask for again if its app were launched anew.
///
/// Whoever keeps sessions for apps that come back tells it each request of the app and each event that the app hears.
/// The host goes on meanwhile; this is what the next launch of the app is told, as its ``ClientEvent/restored(_:)``.
package enum PreservedState: Equatable, Sendable {
    case central(PreservedCentral)
    case peripheral(PreservedPeripheral)

    /// Creates the state of a session that has just been opened.
    package init(_ role: ClientRole) {
        self =
            switch role {
            case .central: .central(PreservedCentral())
            case .peripheral: .peripheral(PreservedPeripheral())
            case .agent, .tester:
                preconditionFailure("whoever looks after pairing, or tests, has nothing to go on with")
            }
    }

    /// Whether there is nothing to tell a new launch.
    package var isEmpty: Bool {
        switch self {
        case .central(let state): state == PreservedCentral()
        case .peripheral(let state): state == PreservedPeripheral()
        }
    }

    /// Notes what the app asks for.
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

    /// Notes what the app hears.
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

    /// Notes that the machine was started anew: no link is there any more.
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

    /// What to ask of a host that knows nothing of the session.
    package var requests: [ClientRequest] {
        switch self {
        case .central(let state): state.requests
        case .peripheral(let state): state.requests
        }
    }

    /// Whether an app that has not asked for it may hear of `event`: it is no answer, and about nothing that the app
    /// had given up.
    package func concerns(_ event: ClientEvent) -> Bool {
        switch event {
        case .discovered: return true
        case .connected(let peer, _), .connectFailed(let peer, _), .disconnected(let peer, _, _): return knows(peer)
        case .peer(let peer, let event, _): return knows(peer) && event.isUnasked
        case .server(let event): return event.isUnasked
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
    /// Whether a connection has ended, or not begun, because the radio went or was switched off.
    var isOfRadio: Bool {
        switch self {
        case .connectFailed(_, .poweredOff), .disconnected(_, .poweredOff, _): true
        default: false
        }
    }

    /// Whether an app is launched so that it hears of this.
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
    /// Whether the peer, or its link, says this by itself.
    fileprivate var isUnasked: Bool {
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
    /// Whether a central says this by itself.
    fileprivate var isUnasked: Bool {
        switch self {
        case .subscribed, .unsubscribed, .readRequested, .writeRequested, .centralChanged: true
        case .serviceAdded, .advertisingStarted, .updatesTaken, .centralsConnected, .channelPublished,
            .channelUnpublished, .channelOpened:
            false
        }
    }
}
