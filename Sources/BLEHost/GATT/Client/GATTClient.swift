import BLEWire

/// The client's side of one link: what the clients of this host want of the peer, one procedure after the other.
///
/// Procedures of clients come first; what the host wants for itself (``Chore``) is done when nobody waits.
struct GATTClient {
    /// Something that the host does for itself.
    enum Chore: Equatable {
        case exchangeMTU
        /// Finds out whether what was kept of a bonded peer still counts; clients wait for it.
        case checkCache
        case readName
        case watchServices
        /// Finds out whether the peer opens enhanced bearers, and has some opened.
        case openBearers
        /// Tells the peer what this host can do beyond what all can.
        case announceFeatures(AttributeHandle)
        /// Reads a value, to be told if services changed before they were watched.
        ///
        /// A peer that has changed since the link came up refuses the next request of a host that understands that, and
        /// holds values back until then: Core 6.0, Vol 3, Part G, 2.5.2.1.
        case probe(AttributeHandle)
        /// Keeps what was learnt of a bonded peer for its next link, if it is certain which database it is about.
        case keepCache
        /// Learns again what was learnt before it was certain, or before the peer told of changes.
        case prove
        /// The peer sends values that no client wants any more.
        case reconfigure(AttributeHandle)
    }

    /// For whom a procedure is.
    enum Owner: Equatable {
        case client(ClientID)
        case host
        /// A client that has had its answer and is gone.
        case nobody
    }

    /// A procedure that is under way.
    struct Running {
        var owner: Owner
        var procedure: Procedure
        /// Grows with each request of a client that begins.
        var order: UInt64 = 0
        /// What the client that asks for another subscription has, and what it asks for.
        var subscription = (earlier: Subscription.none, wanted: Subscription.none)
        /// Whether services changed since its last request, whose answer may be about what was there before.
        var isDisturbed = false
        /// Whether what it is about is gone.
        var isVoid = false
        /// Whether the peer has refused it since this host may take its attributes for others.
        var isRefused = false
        /// Whether it has been begun before.
        var isRepeated = false
        /// Whether it finds out what has changed, while all else waits.
        var catchesUp = false
        /// How far the link could be trusted when it was begun.
        var security = LinkSecurity.unencrypted
        /// Why the peer refused it, while it waits for a link that can be trusted further.
        var refusal: ATT.ErrorCode?

        enum OnAnswer {
            case go(ProcedureStep<Procedure.Outcome>)
            /// Nobody waits for it, and nothing is spoiled if it ends here.
            case leave
        }

        /// Takes the answer to its last request.
        mutating func receive(_ answer: ATTAnswer, _ database: inout PeerDatabase, mtu: Int) -> OnAnswer {
            if case .nobody = owner, !procedure.mustGoOn { return .leave }
            return .go(procedure.receive(answer, &database, mtu: mtu))
        }
    }

    /// A write command that the controller has not taken yet.
    struct Command {
        let receipt: SendReceipt
        let client: ClientID
    }

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
    var bearer = ATTClientBearer()
    var waiting: RequestQueue
    /// What one packet asks and one answers, while nothing else is under way on the unenhanced bearer.
    var single: SingleRequest?
    /// Any other procedure that is under way on the unenhanced bearer.
    var procedure: Running?
    /// What is begun once more as soon as it can be, in ascending order.
    var stalled: [Running] = []
    var catchingUp = CatchingUp.none
    /// Whether the peer has said what changed since the host last caught up.
    var wasToldOfChange = false
    /// The bearers beside the unenhanced one, which are used when that has something to do.
    var enhanced: [EnhancedBearer] = []
    var opening = BearerOpening()
    /// Whether this host uses enhanced bearers at all.
    let offersBearers: Bool
    /// How far the link can be trusted.
    var security = LinkSecurity.unencrypted { didSet { considerBearers() } }
    /// Whether nothing is asked of the peer until it is known whether the link can be trusted further.
    var awaitsSecurity = false
    /// In ascending order.
    var held: [Held] = []
    var lastOrder: UInt64 = 0
    var subscriptions = Subscriptions()
    var commands = Fifo<Command>()
    var chores: [Chore] = []
    /// When they may begin.
    var courtesy = Courtesy()
    /// Until when what was read ahead counts although the peer does not tell of changes.
    var expiry = Instant()
    var database = PeerDatabase()
    var caching = Caching.none
    /// The value in which the peer says that its services changed.
    var serviceChanged: AttributeHandle?
    var hasAnnouncedFeatures = false
    var cacheChange: CacheChange?
    var secondLooks = 0
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
        if role == .central { chores = [.exchangeMTU] }
    }

    var mtu: Int { negotiation.mtu }

    /// What is under way on the unenhanced bearer.
    var running: Running? {
        get { single.map { Running($0) } ?? procedure }
        set { (single, procedure) = (nil, newValue) }
    }

    /// Whether something is.
    var isRunning: Bool { single != nil || procedure != nil }

    /// What this host can do beyond what all can.
    var features: ClientFeatures {
        offersBearers
            ? [.robustCaching, .multipleNotifications, .enhancedBearers] : [.robustCaching, .multipleNotifications]
    }

    /// When to call ``wake(at:into:)``, if nothing happens before.
    var deadline: Instant? {
        var least = !isRunning && bearer.isIdle && hasChores && !awaitsSecurity ? courtesy.begin : nil
        least.bringForward(to: bearer.deadline)
        least.bringForward(to: negotiation.deadline)
        least.bringForward(to: opening.deadline)
        for index in enhanced.indices { least.bringForward(to: enhanced[index].transaction.deadline) }
        return least
    }

    /// Whether `client` is connected to the peer.
    func isAttached(_ client: ClientID) -> Bool { clients.contains(client) }

    mutating func attach(_ client: ClientID) {
        guard !isAttached(client) else { return }
        clients.insert(client, at: clients.firstIndex { client < $0 } ?? clients.endIndex)
        guard !hasIntroducedItself else { return }
        hasIntroducedItself = true
        // A central has asked already.
        if role == .peripheral { chores.append(.exchangeMTU) }
        chores.append(.readName)
        considerBearers()
    }

    /// Forgets `client`, after its requests were answered.
    mutating func remove(_ client: ClientID) { clients.removeAll { $0 == client } }

    /// Has the peer watched for changes of its services, unless it is already.
    mutating func watchServices() {
        guard !database.isWatched, !chores.contains(.watchServices), watches < Self.mostWatches else { return }
        if case .watch = procedure?.procedure { return }
        watches += 1
        chores.append(.watchServices)
    }

    /// Whether the host wants to do something when nobody waits.
    private var hasChores: Bool { chores.contains { !$0.isUrgent } }

    /// Lets the host wait a little with its chores, since a client may want more.
    mutating func postponeChores(at now: Instant) { courtesy.postpone(at: now, isIdle: !hasChores) }

    mutating func tellAll(_ event: PeerEvent, through outbox: inout Outbox) {
        for client in clients { outbox.tell(client, of: .peer(peer, event)) }
    }
}

extension GATTClient.Running {
    init(_ single: SingleRequest) {
        self.init(
            owner: .client(single.client),
            procedure: single.procedure,
            order: single.order,
            security: single.security
        )
    }
}

extension GATTClient.Chore {
    /// Whether clients have to wait for it.
    var isUrgent: Bool {
        switch self {
        case .exchangeMTU, .checkCache: true
        case .readName, .watchServices, .openBearers, .announceFeatures, .probe, .keepCache, .prove, .reconfigure:
            false
        }
    }
}
