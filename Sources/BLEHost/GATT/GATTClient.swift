import BLEWire

/// The client's side of one link: what the clients of this host want of the peer, one procedure after the other.
///
/// Procedures of clients come first; what the host wants for itself (``Chore``) is done when nobody waits.
struct GATTClient {
    /// Something that the host does for itself.
    enum Chore: Equatable {
        case exchangeMTU
        case readName
        case watchServices
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
        /// What the client that asks for another subscription has, and what it asks for.
        var subscription = (earlier: Subscription.none, wanted: Subscription.none)
    }

    /// A write command that the controller has not taken yet.
    struct Command {
        let receipt: SendReceipt
        let client: ClientID
    }

    /// How long the host lets clients go first after the link is ready.
    static let courtesy = Duration.milliseconds(250)

    let link: ConnectionHandle
    let peer: PeerIdentifier
    var negotiation: MTUNegotiation
    /// Clients that are connected to the peer, in ascending order.
    private(set) var clients: [ClientID] = []
    var bearer = ATTClientBearer()
    var waiting: RequestQueue
    var running: Running?
    var subscriptions = Subscriptions()
    var commands = Fifo<Command>()
    var chores: [Chore] = []
    /// When chores may begin; `nil` before the link is ready.
    var choresBegin: Instant?
    /// Primary services found so far, in ascending order.
    var services: [DiscoveredService] = []
    /// The value in which the peer says that its services changed.
    var serviceChanged: AttributeHandle?
    private var hasIntroducedItself = false
    private(set) var isWatching = false

    init(link: ConnectionHandle, peer: PeerIdentifier, configuration: AttributeLayer.Configuration, at now: Instant) {
        self.link = link
        self.peer = peer
        negotiation = MTUNegotiation(preferred: configuration.preferredMTU, at: now)
        waiting = RequestQueue(
            limit: configuration.limits.queuedRequests,
            commandLimit: configuration.limits.queuedWriteCommands
        )
    }

    var mtu: Int { negotiation.mtu }

    /// When to call ``wake(at:into:)``, if nothing happens before.
    var deadline: Instant? {
        let choresDue = running == nil && bearer.isIdle && !chores.isEmpty ? choresBegin : nil
        return [bearer.deadline, negotiation.deadline, choresDue].compactMap(\.self).min()
    }

    /// Whether `client` is connected to the peer.
    func isAttached(_ client: ClientID) -> Bool { clients.contains(client) }

    mutating func attach(_ client: ClientID) {
        guard !isAttached(client) else { return }
        clients.insert(client, at: clients.firstIndex { client < $0 } ?? clients.endIndex)
        guard !hasIntroducedItself else { return }
        hasIntroducedItself = true
        chores.append(.readName)
    }

    /// Forgets `client`, after its requests were answered.
    mutating func remove(_ client: ClientID) { clients.removeAll { $0 == client } }

    /// Has the peer watched for changes of its services, once.
    mutating func watchServices() {
        guard !isWatching else { return }
        isWatching = true
        chores.append(.watchServices)
    }

    mutating func tellAll(_ event: PeerEvent, through outbox: inout Outbox) {
        for client in clients { outbox.tell(client, of: .peer(peer, event)) }
    }
}
