import BLEWire

/// Which client is connected to which peer, or waits to be, in the order in which they asked.
struct Attachments {
    enum State: Equatable {
        /// The client asked for a delay, which is not over.
        case delayed(until: Instant)
        /// There is no link yet.
        case pending
        /// There is a link, of which the client has not heard.
        case linked(ConnectionHandle)
        case connected(ConnectionHandle)
        /// The client has withdrawn and waits for the end of the link; it may have asked to be connected again since.
        case leaving(ConnectionHandle, again: ConnectRequest?)

        /// The link that the client shares, or is about to.
        var link: ConnectionHandle? {
            switch self {
            case .linked(let link), .connected(let link): link
            case .delayed, .pending, .leaving: nil
            }
        }
    }

    struct Attachment: Equatable {
        let client: ClientID
        let peer: PeerIdentifier
        var address: DeviceAddress
        /// Whether the peer changes its address, so that it has to be heard before it can be called.
        var isPrivate: Bool
        var request: ConnectRequest
        var state: State
        /// When the client gives up by itself, until it is connected.
        var due: Instant?

        /// Whether a link to the peer is waited for, and the peer has to be heard first.
        fileprivate var isSought: Bool { isPrivate && state == .pending }
    }

    private(set) var all: [Attachment] = []
    /// How many of them wait for a link to a peer that has to be heard first.
    private var soughtCount = 0
    /// Those who share a link, apart from all who wait for one, in ascending order of clients and peers.
    private var connected: [(client: ClientID, peer: PeerIdentifier, link: ConnectionHandle)] = []
    /// Which of them was asked for last: what an app asks is mostly about the peer that it asked something before.
    private var lastAsked = 0

    /// When the next delay, or the next client's patience, is over.
    var deadline: Instant? {
        var least: Instant?
        for one in all {
            if case .delayed(let until) = one.state { least.bringForward(to: until) }
            least.bringForward(to: one.due)
        }
        return least
    }

    /// Those who have waited for as long as they wanted to.
    func overdue(at now: Instant) -> [Attachment] {
        all.filter { $0.due.map { $0 <= now } ?? false }
    }

    /// The addresses of those who wait for a link, each once.
    var wanted: [DeviceAddress] {
        var addresses: [DeviceAddress] = []
        for attachment in all where attachment.state == .pending && !addresses.contains(attachment.address) {
            addresses.append(attachment.address)
        }
        return addresses
    }

    /// Which address the first of those shows who wait for a link.
    var ownAddress: OwnAddressKind? { all.first { $0.state == .pending }?.request.ownAddress }

    /// Whether somebody waits for a link to a peer that has to be heard first.
    var seeksPrivatePeers: Bool { soughtCount > 0 }

    /// Notes where a peer is now; `false` if nobody waits for a link to it, or it was known to be there.
    mutating func move(_ peer: PeerIdentifier, to address: DeviceAddress) -> Bool {
        var hasMoved = false
        for index in all.indices where all[index].peer == peer && all[index].state == .pending {
            hasMoved = hasMoved || all[index].address != address
            all[index].address = address
        }
        return hasMoved
    }

    /// Notes where a peer is called from now on, and whether it has to be heard first.
    mutating func relocate(_ peer: PeerIdentifier, to address: DeviceAddress, isPrivate: Bool) {
        for index in all.indices where all[index].peer == peer {
            if all[index].isSought { soughtCount -= 1 }
            (all[index].address, all[index].isPrivate) = (address, isPrivate)
            if all[index].isSought { soughtCount += 1 }
        }
    }

    /// How many peers clients wait for or are connected to.
    var count: Int { all.count }

    /// How many peers a client waits for or is connected to.
    func count(of client: ClientID) -> Int { all.count { $0.client == client } }

    subscript(client: ClientID, peer: PeerIdentifier) -> Attachment? {
        index(client, peer).map { all[$0] }
    }

    /// The link over which a client is connected to a peer.
    @inline(__always)
    mutating func link(of client: ClientID, to peer: PeerIdentifier) -> ConnectionHandle? {
        if !isConnected(client, peer, at: lastAsked) { lastAsked = place(client, peer) }
        return isConnected(client, peer, at: lastAsked) ? connected[lastAsked].link : nil
    }

    func of(_ client: ClientID) -> [Attachment] { all.filter { $0.client == client } }
    func to(_ peer: PeerIdentifier) -> [Attachment] { all.filter { $0.peer == peer } }

    /// Those who share a link, are about to, or wait for its end.
    func on(_ link: ConnectionHandle) -> [Attachment] {
        all.filter {
            switch $0.state {
            case .linked(link), .connected(link), .leaving(link, _): true
            case .delayed, .pending, .linked, .connected, .leaving: false
            }
        }
    }

    mutating func add(_ attachment: Attachment) {
        precondition(index(attachment.client, attachment.peer) == nil, "a client is attached to a peer once")
        all.append(attachment)
        if attachment.isSought { soughtCount += 1 }
        note(attachment.state, of: attachment.client, attachment.peer)
    }

    /// Changes the state of an attachment that exists.
    mutating func set(_ state: State, for client: ClientID, _ peer: PeerIdentifier) {
        guard let index = index(client, peer) else { preconditionFailure("the client is not attached to the peer") }
        change(index, to: state)
        switch state {
        case .connected, .leaving: all[index].due = nil
        case .delayed, .pending, .linked: break
        }
    }

    /// Changes how a client wants to be connected.
    mutating func update(_ request: ConnectRequest, for client: ClientID, _ peer: PeerIdentifier) {
        guard let index = index(client, peer) else { preconditionFailure("the client is not attached to the peer") }
        all[index].request = request
    }

    mutating func remove(_ client: ClientID, _ peer: PeerIdentifier) {
        guard let index = index(client, peer) else { return }
        if all.remove(at: index).isSought { soughtCount -= 1 }
        note(.pending, of: client, peer)
    }

    /// Those whose delay is over, and who wait for a link or share one from now on.
    mutating func begin(at now: Instant) -> [Attachment] {
        var begun: [Attachment] = []
        for index in all.indices {
            guard case .delayed(let until) = all[index].state, until <= now else { continue }
            change(index, to: .pending)
            begun.append(all[index])
        }
        return begun
    }

    private mutating func change(_ index: Int, to state: State) {
        if all[index].isSought { soughtCount -= 1 }
        all[index].state = state
        if all[index].isSought { soughtCount += 1 }
        note(state, of: all[index].client, all[index].peer)
    }

    /// Notes whether a client is connected to a peer from now on.
    private mutating func note(_ state: State, of client: ClientID, _ peer: PeerIdentifier) {
        let place = place(client, peer)
        if isConnected(client, peer, at: place) { connected.remove(at: place) }
        if case .connected(let link) = state { connected.insert((client, peer, link), at: place) }
    }

    /// Where among those who share a link a client is that is connected to a peer, or belongs.
    private func place(_ client: ClientID, _ peer: PeerIdentifier) -> Int {
        connected.indices.bisected {
            connected[$0].client == client
                ? connected[$0].peer.rawValue < peer.rawValue : connected[$0].client < client
        }
    }

    @inline(__always)
    private func isConnected(_ client: ClientID, _ peer: PeerIdentifier, at place: Int) -> Bool {
        place < connected.count && connected[place].client == client && connected[place].peer == peer
    }

    private func index(_ client: ClientID, _ peer: PeerIdentifier) -> Int? {
        all.firstIndex { $0.client == client && $0.peer == peer }
    }
}
