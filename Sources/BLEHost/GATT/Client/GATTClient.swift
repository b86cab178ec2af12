import BLEWire

/// The client's side of one link: what the clients of this host want of the peer, one procedure after the other.
///
/// What clients ask comes first; what the host asks for itself (``OwnRequests``) is done when nobody waits.
struct GATTClient {
    /// How long what was read ahead is handed out if the peer does not tell of changes.
    static let freshness = Duration.seconds(2)
    /// How often the peer is asked to tell of changes, if it keeps changing what it is asked by.
    static let mostWatches = 8
    /// How many requests go into a second look at what was found before changes were told of, but for services.
    static let mostSecondLooks = 32

    let link: ConnectionHandle
    let peer: PeerIdentifier
    let role: LinkRole
    let limits: Limits
    var negotiation: MTUNegotiation
    /// Clients that are connected to the peer, in ascending order.
    private(set) var clients: [ClientID] = []
    var waiting: RequestQueue
    var bearers = ClientBearers()
    var opening = BearerOpening()
    /// Whether this host uses enhanced bearers at all.
    let offersBearers: Bool
    var catchingUp = CatchingUp()
    var answers = AnswerOrder()
    var commands = WriteCommands()
    var ownRequests = OwnRequests()
    var subscriptions = Subscriptions()
    /// How far the link can be trusted: what the peer is asked depends on it, and what it may ask for.
    var trust = LinkTrust(.unencrypted)
    /// Whether nothing is asked of the peer until it is known whether the link can be trusted further.
    var awaitsSecurity = false
    var database = PeerDatabase()
    /// Until when what was read ahead counts although the peer does not tell of changes.
    var expiry = Instant()
    var changeNotices = ChangeNotices()
    var caching = Caching.none
    /// What is kept of the peer, also of its own client.
    var bond = PeerBond()
    var secondLooks = 0
    /// The value in which the peer says that its services changed.
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

    /// The largest packet, in octets, that both ends of the bearer at `index` take.
    mutating func mtu(at index: Int) -> Int { bearers.all[index].mtu ?? mtu }

    /// What this host can do beyond what all can.
    var features: ClientFeatures {
        offersBearers
            ? [.robustCaching, .multipleNotifications, .enhancedBearers] : [.robustCaching, .multipleNotifications]
    }

    /// When to call ``wake(at:into:)``, if nothing happens before.
    var deadline: Instant? {
        mutating get {
            var least = awaitsSecurity ? nil : bearers.begin(at: ownRequests.deadline)
            least.bringForward(to: bearers.deadline)
            least.bringForward(to: negotiation.deadline)
            least.bringForward(to: opening.deadline)
            return least
        }
    }

    /// Whether `client` is connected to the peer.
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

    /// Forgets `client`, after its requests were answered.
    mutating func remove(_ client: ClientID) { clients.removeAll { $0 == client } }

    /// Has the peer watched for changes of its services, unless it is already.
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
