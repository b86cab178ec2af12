import BLEWire

/// One end of a connection: what a controller knows of it.
struct LinkEnd: Sendable {
    let controller: Int
    let handle: ConnectionHandle
    let profile: ControllerIdentity.Profile
    /// Whether this end still takes part.
    var isPresent = true
    /// Whether this end missed a change of timing and so meets nobody any more.
    var isAstray = false
    var acknowledgement = Acknowledgement()
    var outgoing = OutgoingData()
    var control = LinkControl()
    var lengths: DataLengths
    /// When this end last heard the other, or when it was made.
    var lastHeard: Instant
    /// Whether this end ever heard the other.
    var isEstablished = false
    /// How many events a peripheral may still stay away from.
    var eventsToSkip = 0
    /// What will change at an instant that both ends agreed on.
    var change: LinkChange?
    /// The PHYs that the host of this end would like, as sets.
    var preference: LL.PHYPreference
    /// Whether the host would have the Coded PHY at 500 kb/s.
    var prefersCodedTwo = false
    /// How long the host would go without an authenticated packet, once there is encryption.
    var payloadTimeout = AuthenticatedPayloadTimeout.standard
    /// The reason with which the peripheral left; this end, the central, still has to acknowledge that.
    var farewell: UInt8?

    init(
        controller: Int,
        handle: ConnectionHandle,
        profile: ControllerIdentity.Profile,
        lengths: DataLengths,
        preference: LL.PHYPreference,
        at now: Instant
    ) {
        self.controller = controller
        self.handle = handle
        self.profile = profile
        self.lengths = lengths
        self.preference = preference
        lastHeard = now
    }

    /// Whether this end has anything to say that is not an empty packet.
    var hasSomethingToSend: Bool {
        control.hasPacket || outgoing.count > 0 || (acknowledgement.inFlight.map { $0 != .empty } ?? false)
    }
}

/// What changes at both ends with the connection event that an instant counts.
enum LinkChange: Equatable, Sendable {
    case timing(LL.ConnectionUpdate)
    case channels(LL.ChannelMapIndication)
    case modulation(LL.PHYUpdate)

    var instant: UInt16 {
        switch self {
        case .timing(let update): update.instant
        case .channels(let indication): indication.instant
        case .modulation(let update): update.instant
        }
    }
}
