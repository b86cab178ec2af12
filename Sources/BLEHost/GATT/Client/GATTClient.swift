import BLEWire

/// The GATT client of one link, which sends the requests of this host's clients to the peer.
///
/// It carries out discoveries, reads, writes and subscriptions, caches the peer's attributes (``PeerDatabase``), and
/// delivers notified values to subscribers.
///
/// Each client has its own queue, and a request starts when a bearer is free. The host's own requests (``OwnRequests``)
/// are usually sent when no client request is waiting.
struct GATTClient {
    /// The lifetime of attributes that were read ahead, unless the peer has been asked to report changes.
    static let freshness = Duration.seconds(2)
    /// The maximum number of times that this host asks the peer to report changes.
    ///
    /// There is a limit because a peer may keep changing its GATT service.
    static let mostWatchAttempts = 8
    /// The maximum number of requests for verifying what was discovered before the peer was asked to report changes.
    ///
    /// Services are verified even beyond this limit.
    static let mostVerifications = 32

    let link: ConnectionHandle
    let peer: PeerIdentifier
    let role: LinkRole
    let limits: Limits
    var negotiation: MTUNegotiation
    /// The clients that are connected to the peer, in ascending order.
    private(set) var clients: [ClientID] = []
    var waiting: RequestQueue
    var bearers = ClientBearers()
    var opening = BearerOpening()
    /// True if this host uses Enhanced ATT bearers.
    let offersBearers: Bool
    var recovery = DatabaseRecovery()
    var answers = ResultOrder()
    var commands: WriteCommands
    var ownRequests = OwnRequests()
    var subscriptions = Subscriptions()
    /// The security and authorization of the link, which determine what each end may request.
    var trust = LinkTrust(.unencrypted)
    /// True if no requests are sent until an attempt to raise the security has ended, or the peer has proven its bond.
    var awaitsSecurity = false
    var database = PeerDatabase()
    /// The time at which attributes that were read ahead expire, unless the peer has been asked to report changes.
    var expiry = Instant()
    var reportedChanges = ReportedChanges()
    var caching = Caching.none
    /// True if the attributes are stored with the peer's bond.
    var isCachingForBond = false
    /// The attributes that the peer's Database Hash last confirmed on this link; `nil` if there are none.
    var confirmed: CachedDatabase?
    /// The stored data of the peer, including the state of its GATT client.
    var bond = PeerBond()
    var verificationCount = 0
    /// The handle of the peer's Service Changed value; `nil` if it is not known.
    var serviceChanged: AttributeHandle?
    var hasAnnouncedFeatures = false
    private var hasIntroducedItself = false
    private var watchAttempts = 0

    init(
        link: ConnectionHandle,
        peer: PeerIdentifier,
        role: LinkRole,
        configuration: AttributeLayer.Configuration,
        at now: Instant
    ) {
        self.link = link
        self.peer = peer
        self.role = role
        limits = configuration.limits
        offersBearers = configuration.offersEnhancedBearers
        negotiation = MTUNegotiation(preferred: configuration.preferredMTU, role: role, at: now)
        waiting = RequestQueue(
            limit: configuration.limits.queuedRequests,
            commandLimit: configuration.limits.queuedWriteCommands
        )
        commands = WriteCommands(share: configuration.limits.queuedFramesOfClient)
        if role == .central { ownRequests.append(.exchangeMTU) }
    }

    var mtu: Int { negotiation.mtu }

    /// Returns the MTU of the bearer at `index`, in octets.
    mutating func mtu(at index: Int) -> Int { bearers.all[index].mtu ?? mtu }

    /// The Client Supported Features of this host.
    var features: ClientFeatures {
        offersBearers
            ? [.robustCaching, .multipleNotifications, .enhancedBearers] : [.robustCaching, .multipleNotifications]
    }

    /// The time at which clients last stopped making requests, as in ``IdleGate/idleSince``; `nil` if a request is
    /// waiting or in progress, or if the link is not ready.
    var quietSince: Instant? {
        waiting.isEmpty && bearers.underWay(for: nil).isEmpty ? ownRequests.idleSince : nil
    }

    /// The time to call ``wake(at:into:)`` next; `nil` if nothing is due.
    var deadline: Instant? {
        mutating get {
            var least = awaitsSecurity ? nil : bearers.startTime(atEarliest: ownRequests.deadline)
            least.bringForward(to: bearers.deadline)
            least.bringForward(to: negotiation.deadline)
            least.bringForward(to: opening.deadline)
            return least
        }
    }

    /// Returns whether `client` is connected to the peer.
    func isAttached(_ client: ClientID) -> Bool { clients.contains(client) }

    mutating func attach(_ client: ClientID) {
        guard !isAttached(client) else { return }
        clients.insert(client, at: clients.firstIndex { client < $0 } ?? clients.endIndex)
        guard !hasIntroducedItself else { return }
        hasIntroducedItself = true
        // A central has already sent its MTU request when the link was established.
        if role == .peripheral { ownRequests.append(.exchangeMTU) }
        ownRequests.append(.readName)
        considerBearers()
    }

    /// Removes a client whose requests have all been answered.
    mutating func remove(_ client: ClientID) { clients.removeAll { $0 == client } }

    /// Queues a request to the peer to report changes of its services, unless the peer reports them already, the
    /// request is queued or in progress, or it was made ``mostWatchAttempts`` times.
    mutating func watchServices() {
        guard !database.isWatched, !ownRequests.contains(.watchServices), watchAttempts < Self.mostWatchAttempts else {
            return
        }
        if case .watch = bearers.all[0].running?.procedure { return }
        watchAttempts += 1
        ownRequests.append(.watchServices)
    }

    mutating func reportToAll(_ event: PeerEvent, through outbox: inout Outbox) {
        for client in clients { outbox.report(to: client, .peer(peer, event)) }
    }
}
