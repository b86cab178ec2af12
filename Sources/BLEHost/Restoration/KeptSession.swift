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
        /// The app is there to hear it, and the host, which knows nothing of the session any more, is asked for this.
        case tellAndAsk([ClientRequest])
        /// The next launch hears it; if `launches`, there is to be one now.
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

    /// What the app has asked for and heard.
    package private(set) var state: PreservedState
    /// What the next launch is to hear; `nil` while the app is there.
    private var held: [ClientEvent]?
    /// Whether the host has to be asked for everything again when it can be.
    private var awaitsRadio = false

    /// Creates the session of an app that is there.
    package init(_ role: ClientRole) { state = PreservedState(role) }

    /// Creates a session that was kept elsewhere, on a host that knows nothing of it.
    package init(continuing state: PreservedState) {
        self.state = state
        self.state.machineRestarted()
        held = []
        awaitsRadio = true
    }

    /// Whether the app is there.
    package var hasApp: Bool { held == nil }

    /// The app asks for something.
    package mutating func note(_ request: ClientRequest) { state.note(request) }

    /// The app has ended, and has not heard this.
    package mutating func appEnded(unheard: [ClientEvent] = []) { held = unheard.filter(state.concerns) }

    /// The app was launched again: where it was, and what it hears when it knows how the radio is.
    package mutating func appReturned() -> (restored: PreservedState?, held: [ClientEvent]) {
        let held = held ?? []
        self.held = nil
        return (state.isEmpty ? nil : state, held)
    }

    /// The host says something.
    ///
    /// - Parameters:
    ///   - event: What it says.
    ///   - canLaunch: Whether the app can be launched for it.
    /// - Returns: What is to be done with it.
    package mutating func hear(_ event: ClientEvent, canLaunch: Bool) -> Course {
        guard let held else { return hearWithApp(event) }
        if case .stateChanged(let radio) = event { return radioChanged(to: radio) }
        guard state.concerns(event) else { return .drop }
        guard canLaunch || !event.needsApp else { return event.refusal.map(Course.refuse) ?? .drop }
        guard held.count < Self.mostHeld else { return .giveUp }
        self.held?.append(event)
        return .hold(launches: event.launchesApps)
    }

    /// What an app that came back before the radio was there had asked for is asked for when the radio is there.
    private mutating func hearWithApp(_ event: ClientEvent) -> Course {
        guard awaitsRadio, case .stateChanged(let radio) = event else {
            state.note(event)
            return .tell
        }
        guard radio == .poweredOn else { return .tell }
        awaitsRadio = false
        return .tellAndAsk(state.requests)
    }

    /// When the user switches Bluetooth off while an app is not there, nothing is left for its next launch; a radio
    /// that is gone comes back.
    private mutating func radioChanged(to radio: HostState) -> Course {
        switch radio {
        case .poweredOn:
            defer { awaitsRadio = false }
            return awaitsRadio ? .ask(state.requests) : .drop
        case .poweredOff, .unauthorized: return .giveUp
        case .unknown, .resetting, .unsupported:
            state.machineRestarted()
            awaitsRadio = true
            return .drop
        }
    }
}

extension ClientEvent {
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
            .server(.respond(transaction, .failure(.unlikelyError)))
        default: nil
        }
    }
}
