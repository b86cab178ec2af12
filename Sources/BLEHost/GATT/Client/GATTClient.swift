import BLEWire

/// The client's side of one link: the requests of this host's clients to the peer, one procedure at a time.
///
/// It carries out discoveries, reads, writes and subscriptions, caches the peer's attributes (``PeerDatabase``), and
/// delivers notified values to subscribers.
///
/// A queue has a lane for each client, and a procedure starts when a bearer is free. Client requests come first:
/// requests of the host (``OwnRequests``) are sent when none are waiting.
struct GATTClient {
    /// The lifetime of read-ahead items if the peer does not report changes.
    static let freshness = Duration.seconds(2)
    /// The maximum number of requests to report changes, if the peer keeps changing its GATT service.
    static let mostWatches = 8
    /// The maximum number of requests to verify what was discovered before changes were reported, except services.
    static let mostSecondLooks = 32

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
    var commands = WriteCommands()
    var ownRequests = OwnRequests()
    var subscriptions = Subscriptions()
    /// The trust in the link, which determines what can be requested by either end.
    var trust = LinkTrust(.unencrypted)
    /// True if no requests are sent until it is known whether the security can be raised.
    var awaitsSecurity = false
    var database = PeerDatabase()
    /// The end of the lifetime of read-ahead items, if the peer does not report changes.
    var expiry = Instant()
    var reportedChanges = ReportedChanges()
    var caching = Caching.none
    /// The stored data of the peer, including those of its own client.
    var bond = PeerBond()
    var secondLooks = 0
    /// The handle of the peer's Service Changed value.
    var serviceChanged: AttributeHandle?
    var hasAnnouncedFeatures = false
    private var hasIntroducedItself = false
    private var watches = 0

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

    /// The time at which to call ``wake(at:into:)`` unless something happens first.
    var deadline: Instant? {
        mutating get {
            var least = awaitsSecurity ? nil : bearers.begin(at: ownRequests.deadline)
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
        // A central has asked already.
        if role == .peripheral { ownRequests.append(.exchangeMTU) }
        ownRequests.append(.readName)
        considerBearers()
    }

    /// Removes `client` after its requests were answered.
    mutating func remove(_ client: ClientID) { clients.removeAll { $0 == client } }

    /// Asks the peer to report changes of its services, unless it was already asked.
    mutating func watchServices() {
        guard !database.isWatched, !ownRequests.contains(.watchServices), watches < Self.mostWatches else { return }
        if case .watch = bearers.all[0].running?.procedure { return }
        watches += 1
        ownRequests.append(.watchServices)
    }

    mutating func tellAll(_ event: PeerEvent, through outbox: inout Outbox) {
        for client in clients { outbox.tell(client, of: .peer(peer, event)) }
    }
}
