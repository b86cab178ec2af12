import BLEWire

/// A session that goes on without its app: what the app was at, and what its next launch is to hear.
///
/// Whoever keeps sessions tells it what apps ask for, what the host says, and when apps end and come back.
package struct KeptSession: Equatable, Sendable {
    /// How many events wait for the next launch; with more than that the session is given up.
    package static let mostHeld = 1_024

    /// What is to be done with what the host says.
    package enum Course: Equatable, Sendable {
        /// The app is there to hear it.
        case tell
        /// The app is there to hear these, and the host, which may know nothing of the session, is asked for this.
        case tellAll([ClientEvent], asking: [ClientRequest])
        /// The next launch hears it, or the app that is there when it knows how the radio is; if `launches`, there is
        /// to be a launch now.
        case hold(launches: Bool)
        /// Nobody will hear it; a peer that waits for an answer gets this one.
        case refuse(ClientRequest)
        /// Nobody will hear it.
        case drop
        /// The host knows nothing of the session any more and is asked for this.
        case ask([ClientRequest])
        /// Nothing is left of the session.
        case giveUp
    }

    /// Where the app is.
    private enum Presence: Equatable, Sendable {
        case there
        /// It is there, and hears this as soon as it knows how the radio is.
        case back([ClientEvent])
        /// Its next launch hears this.
        case away([ClientEvent])
    }

    /// What the app has asked for and heard.
    package private(set) var state: PreservedState
    private var presence = Presence.there
    /// Whether the host has to be asked for everything again when it can be.
    private var awaitsRadio = false

    /// Creates the session of an app that is there.
    package init(_ role: ClientRole) { state = PreservedState(role) }

    /// Creates a session that was kept elsewhere, on a host that knows nothing of it.
    package init(continuing state: PreservedState) {
        self.state = state
        self.state.machineRestarted()
        presence = .away([])
        awaitsRadio = true
    }

    /// Whether the app is there.
    package var hasApp: Bool { if case .away = presence { false } else { true } }

    /// The app asks for something.
    package mutating func note(_ request: ClientRequest) { state.note(request) }

    /// The app has ended.
    package mutating func appEnded() {
        if case .back(let unheard) = presence {
            presence = .away(unheard.filter(state.concerns))
        } else {
            presence = .away([])
        }
    }

    /// The app was launched again: where it was; `nil` if there is nothing to tell.
    package mutating func appReturned() -> PreservedState? {
        if case .away(let held) = presence { presence = .back(held) }
        return state.isEmpty ? nil : state
    }

    /// The host says something.
    ///
    /// - Parameters:
    ///   - event: What it says.
    ///   - canLaunch: Whether the app can be launched for it.
    /// - Returns: What is to be done with it.
    package mutating func hear(_ event: ClientEvent, canLaunch: Bool) -> Course {
        switch presence {
        case .there:
            state.note(event)
            return .tell
        case .back(let waiting): return hear(event, before: waiting)
        case .away(let held): return hear(event, canLaunch: canLaunch, after: held)
        }
    }

    /// Of the app that is back, what waits comes after the state; what it had asked for before there was a radio is
    /// asked for when there is one.
    private mutating func hear(_ event: ClientEvent, before waiting: [ClientEvent]) -> Course {
        if event.introduces { return .tell }
        guard case .stateChanged(let radio) = event else {
            presence = .back(waiting + [event])
            return .hold(launches: false)
        }
        guard !awaitsRadio || radio == .poweredOn else { return .tell }
        let requests = awaitsRadio ? state.requests : []
        awaitsRadio = false
        presence = .there
        let events = [event] + waiting
        for event in events { state.note(event) }
        return .tellAll(events, asking: requests)
    }

    private mutating func hear(_ event: ClientEvent, canLaunch: Bool, after held: [ClientEvent]) -> Course {
        if case .stateChanged(let radio) = event { return radioChanged(to: radio, after: held) }
        guard state.concerns(event) else {
            // What the app asked for before it ended was done, and its next launch finds it so.
            state.note(event)
            return .drop
        }
        guard canLaunch || !event.needsApp else { return event.refusal.map(Course.refuse) ?? .drop }
        guard held.count < Self.mostHeld else { return .giveUp }
        presence = .away(held + [event])
        return .hold(launches: event.launchesApps)
    }

    /// When the user switches Bluetooth off while an app is not there, nothing is left for its next launch; a radio
    /// that is gone comes back, and until then what was held is over.
    private mutating func radioChanged(to radio: HostState, after held: [ClientEvent]) -> Course {
        switch radio {
        case .poweredOn:
            defer { awaitsRadio = false }
            return awaitsRadio ? .ask(state.requests) : .drop
        case .poweredOff, .unauthorized: return .giveUp
        case .unknown, .resetting, .unsupported:
            for event in held where !event.isOfRadio { state.note(event) }
            presence = .away([])
            state.machineRestarted()
            awaitsRadio = true
            return .drop
        }
    }
}

extension ClientEvent {
    /// Whether it belongs to what every new session hears before the state of the radio.
    fileprivate var introduces: Bool {
        switch self {
        case .knownPeers, .systemLinks, .featuresChanged, .server(.centralsConnected): true
        default: false
        }
    }

    /// Whether it is of no use to hear of this when it is long over.
    package var needsApp: Bool {
        switch self {
        case .discovered, .server(.readRequested), .server(.writeRequested): true
        default: false
        }
    }

    /// What a peer is answered that waits for an app which is not there; `nil` if nobody waits.
    package var refusal: ClientRequest? {
        switch self {
        case .server(.readRequested(let transaction, _, _, _)), .server(.writeRequested(let transaction?, _, _)):
            .service(.respond(transaction, .failure(.unlikelyError)))
        default: nil
        }
    }
}
