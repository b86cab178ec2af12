import BLEWire

/// A session that continues without its app: the state of the app, and the events for its next launch.
///
/// The keeper of sessions passes it the requests of the app, the events of the host, and the ends and launches of the
/// app.
package struct KeptSession: Equatable, Sendable {
    /// The maximum number of held events.
    ///
    /// Beyond it, the session is dropped.
    package static let mostHeld = 1_024

    /// The treatment of an event from the host.
    package enum Disposition: Equatable, Sendable {
        /// Deliver it to the running app.
        case deliver
        /// Deliver these to the running app, and send these requests to the host, which may have lost the session.
        case deliverAll([ClientEvent], sending: [ClientRequest])
        /// Hold it for the next launch, or until the running app knows the state of the radio. If `launches` is true,
        /// launch the app now.
        case hold(launches: Bool)
        /// Drop it, and send this answer to a waiting peer.
        case refuse(ClientRequest)
        /// Drop it.
        case drop
        /// Send these requests to the host, which has lost the session.
        case send([ClientRequest])
        /// Drop the session, which has nothing left.
        case giveUp
    }

    /// Whether the app is running.
    private enum Presence: Equatable, Sendable {
        case running
        /// Running. It receives these events as soon as it knows the state of the radio.
        case returned([ClientEvent])
        /// Not running. Its next launch receives these events.
        case ended([ClientEvent])
    }

    /// The requests and events of the app that must be preserved.
    package private(set) var state: PreservedState
    private var presence = Presence.running
    /// True if the requests must be repeated when the radio is on.
    private var awaitsRadio = false

    /// Creates the session of a running app.
    package init(_ role: ClientRole) { state = PreservedState(role) }

    /// Creates a session from storage, on a host that does not have it.
    package init(continuing state: PreservedState) {
        self.state = state
        self.state.machineRestarted()
        presence = .ended([])
        awaitsRadio = true
    }

    /// True if the app is running.
    package var hasApp: Bool { if case .ended = presence { false } else { true } }

    /// Records a request of the app.
    package mutating func note(_ request: ClientRequest) { state.note(request) }

    /// Records that the app has ended.
    package mutating func appEnded() {
        if case .returned(let undelivered) = presence {
            presence = .ended(undelivered.filter(state.concerns))
        } else {
            presence = .ended([])
        }
    }

    /// Records that the app was launched again; returns its preserved state, or `nil` if there is none.
    package mutating func appReturned() -> PreservedState? {
        if case .ended(let held) = presence { presence = .returned(held) }
        return state.isEmpty ? nil : state
    }

    /// Processes an event of the host.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - canLaunch: Whether the app can be launched for the event.
    /// - Returns: How to handle the event.
    package mutating func receive(_ event: ClientEvent, canLaunch: Bool) -> Disposition {
        switch presence {
        case .running:
            state.note(event)
            return .deliver
        case .returned(let waiting): return receive(event, before: waiting)
        case .ended(let held): return receive(event, canLaunch: canLaunch, after: held)
        }
    }

    /// Processes an event for an app that has returned.
    ///
    /// Held events come after the state of the radio, and requests made before the radio was on are repeated then.
    private mutating func receive(_ event: ClientEvent, before waiting: [ClientEvent]) -> Disposition {
        if event.introduces { return .deliver }
        guard case .stateChanged(let radio) = event else {
            presence = .returned(waiting + [event])
            return .hold(launches: false)
        }
        guard !awaitsRadio || radio == .poweredOn else { return .deliver }
        let requests = awaitsRadio ? state.requests : []
        awaitsRadio = false
        presence = .running
        let events = [event] + waiting
        for event in events { state.note(event) }
        return .deliverAll(events, sending: requests)
    }

    private mutating func receive(_ event: ClientEvent, canLaunch: Bool, after held: [ClientEvent]) -> Disposition {
        if case .stateChanged(let radio) = event { return radioChanged(to: radio, after: held) }
        guard state.concerns(event) else {
            // What the app asked for before it ended was done, and its next launch finds it so.
            state.note(event)
            return .drop
        }
        guard canLaunch || !event.needsApp else { return event.refusal.map(Disposition.refuse) ?? .drop }
        guard held.count < Self.mostHeld else { return .giveUp }
        presence = .ended(held + [event])
        return .hold(launches: event.launchesApps)
    }

    /// Processes a change of the radio.
    ///
    /// If the user switches Bluetooth off while the app is not running, its next launch gets nothing. A lost radio will
    /// return, but the held events are dropped.
    private mutating func radioChanged(to radio: HostState, after held: [ClientEvent]) -> Disposition {
        switch radio {
        case .poweredOn:
            defer { awaitsRadio = false }
            return awaitsRadio ? .send(state.requests) : .drop
        case .poweredOff, .unauthorized: return .giveUp
        case .unknown, .resetting, .unsupported:
            for event in held where !event.isOfRadio { state.note(event) }
            presence = .ended([])
            state.machineRestarted()
            awaitsRadio = true
            return .drop
        }
    }
}

extension ClientEvent {
    /// True for events that every new session gets before the state of the radio.
    fileprivate var introduces: Bool {
        switch self {
        case .knownPeers, .systemLinks, .featuresChanged, .server(.centralsConnected): true
        default: false
        }
    }

    /// True for events that are meaningless later.
    package var needsApp: Bool {
        switch self {
        case .discovered, .server(.readRequested), .server(.writeRequested): true
        default: false
        }
    }

    /// The answer to a peer that waits for an app which is not running; `nil` if none waits.
    package var refusal: ClientRequest? {
        switch self {
        case .server(.readRequested(let transaction, _, _, _)), .server(.writeRequested(let transaction?, _, _)):
            .service(.respond(transaction, .failure(.unlikelyError)))
        default: nil
        }
    }
}
