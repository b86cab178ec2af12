import BLEWire

/// A session that continues after its app has ended: the state of the app, and the events for its next launch.
///
/// The owner of this value passes it the requests from the app and the events from the host, and reports when the app
/// has ended or has been launched.
package struct KeptSession: Equatable, Sendable {
    /// The maximum number of events that are held for the next launch.
    ///
    /// If there are more, the state is updated with the oldest, and the app does not receive it.
    package static let mostHeld = 1_024

    /// The action for an event from the host.
    package enum Disposition: Equatable, Sendable {
        /// Deliver the event to the running app.
        case deliver
        /// Deliver these events to the running app, and send these requests to the host. There are requests only if the
        /// host does not have the session.
        case deliverAll([ClientEvent], sending: [ClientRequest])
        /// Hold the event for the next launch, or until the running app has been informed of the state of the radio. If
        /// `launches` is true, launch the app now.
        case hold(launches: Bool)
        /// Send the host this request, which sends an error response to a peer: to the one whose request this event
        /// reports or, if this event has replaced the oldest held event, to the one whose request that event reports.
        case refuse(ClientRequest)
        /// Drop the event.
        case drop
        /// Drop the event, and send these requests to the host, which does not have the session.
        case send([ClientRequest])
        /// Drop the event and the whole session.
        case dropSession
    }

    /// The presence of the app, and the events that it has not received yet.
    private enum Presence: Equatable, Sendable {
        case running
        /// The app is running again. It receives these events as soon as it has been informed of the state of the
        /// radio.
        case returned([ClientEvent])
        /// The app is not running. It receives these events at its next launch.
        case ended([ClientEvent])
    }

    /// The state of the app, derived from its requests and events.
    package private(set) var state: PreservedState
    private var presence = Presence.running
    /// True if the app's requests must be sent to the host again when the radio is on.
    private var awaitsRadio = false

    /// Creates the session of a running app.
    package init(_ role: ClientRole) { state = PreservedState(role) }

    /// Creates a session from its stored state, after a restart of the machine.
    ///
    /// The host does not have the session yet.
    package init(continuing state: PreservedState) {
        self.state = state
        self.state.machineRestarted()
        presence = .ended([])
        awaitsRadio = true
    }

    /// True if the app is running.
    package var hasApp: Bool { if case .ended = presence { false } else { true } }

    /// Records a request from the app.
    package mutating func note(_ request: ClientRequest) { state.note(request) }

    /// Records that the app has ended.
    package mutating func appEnded() {
        if case .returned(let undelivered) = presence {
            presence = .ended(undelivered.filter(state.isRelevant))
        } else {
            presence = .ended([])
        }
    }

    /// Records that the app was launched again, and returns its preserved state; `nil` if there is nothing to restore.
    package mutating func appReturned() -> PreservedState? {
        if case .ended(let held) = presence { presence = .returned(held) }
        return state.isEmpty ? nil : state
    }

    /// Processes an event from the host.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - canLaunch: True if the app can be launched for the event.
    /// - Returns: The action for the event.
    package mutating func receive(_ event: ClientEvent, canLaunch: Bool) -> Disposition {
        switch presence {
        case .running:
            state.note(event)
            return .deliver
        case .returned(let waiting): return receive(event, before: waiting)
        case .ended(let held): return receive(event, canLaunch: canLaunch, after: held)
        }
    }

    /// Processes an event for an app that was launched again, but has not been informed of the state of the radio yet.
    ///
    /// The app receives the state of the radio first, and then the held events (`waiting`). If the app's requests have
    /// to be sent to the host again, they are sent when the radio is on.
    private mutating func receive(_ event: ClientEvent, before waiting: [ClientEvent]) -> Disposition {
        if event.precedesRadioState { return .deliver }
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
        guard state.isRelevant(event) else {
            // This is the result of a request that the app made before it ended. The state records it for the next
            // launch.
            state.note(event)
            return .drop
        }
        guard canLaunch || !event.needsApp else { return event.refusal.map(Disposition.refuse) ?? .drop }
        guard held.count >= Self.mostHeld, let oldest = held.first else {
            presence = .ended(held + [event])
            return .hold(launches: event.launchesApps)
        }
        state.note(oldest)
        presence = .ended(held.dropFirst() + [event])
        return oldest.refusal.map(Disposition.refuse) ?? .hold(launches: event.launchesApps)
    }

    /// Processes a change of the radio's state.
    ///
    /// If the user switches Bluetooth off, or forbids its use, while the app is not running, the session is dropped. If
    /// the radio is lost, it is expected to return, so the session continues, but the held events are dropped.
    private mutating func radioChanged(to radio: HostState, after held: [ClientEvent]) -> Disposition {
        switch radio {
        case .poweredOn:
            defer { awaitsRadio = false }
            return awaitsRadio ? .send(state.requests) : .drop
        case .poweredOff, .unauthorized: return .dropSession
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
    /// True for events that every new session receives before the state of the radio.
    fileprivate var precedesRadioState: Bool {
        switch self {
        case .knownPeers, .systemLinks, .featuresChanged, .server(.centralsConnected): true
        default: false
        }
    }

    /// True for events that are useless unless the app processes them immediately.
    package var needsApp: Bool {
        switch self {
        case .discovered, .server(.readRequested), .server(.writeRequested): true
        default: false
        }
    }

    /// The request that sends the peer an error response in place of an app that is not running; `nil` if the event
    /// needs no response.
    package var refusal: ClientRequest? {
        switch self {
        case .server(.readRequested(let transaction, _, _, _)), .server(.writeRequested(let transaction?, _, _)):
            .service(.respond(transaction, .failure(.unlikelyError)))
        default: nil
        }
    }
}
