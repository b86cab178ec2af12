import BLEWire

/// The connections of clients to peers, and the requests for connections, in the order of the requests.
struct ClientConnections {
    enum State: Equatable {
        /// The client has requested a delay before connecting, and the delay is not over yet.
        case delayed(until: Instant)
        /// There is no link yet.
        case pending
        /// There is a link, but the client has not been informed of it yet.
        case linked(ConnectionHandle)
        case connected(ConnectionHandle)
        /// The client has cancelled the connection, and the link has not ended yet. If the client has requested a new
        /// connection in the meantime, `again` is that request.
        case disconnecting(ConnectionHandle, again: ConnectRequest?)

        /// The link that the client uses, or will use once the host has informed it of the connection; `nil` if there
        /// is none.
        var link: ConnectionHandle? {
            switch self {
            case .linked(let link), .connected(let link): link
            case .delayed, .pending, .disconnecting: nil
            }
        }
    }

    struct ClientConnection: Equatable {
        let client: ClientID
        let peer: PeerIdentifier
        var address: DeviceAddress
        /// True if the peer's address changes.
        ///
        /// The host must receive an advertisement from such a peer before it can connect.
        var isPrivate: Bool
        var request: ConnectRequest
        var state: State
        /// True if an earlier request for this connection failed because all links were in use, and the client has
        /// repeated the request.
        var waits = false
        /// The time at which the client's request times out; `nil` if it has no timeout.
        var due: Instant?

        /// True if the request waits for a link to end when all links are in use, instead of failing.
        var waitsForLink: Bool { waits || request.reconnects }

        /// True if the host must receive an advertisement from the peer before it can connect.
        fileprivate var awaitsAdvertisement: Bool { isPrivate && state == .pending }
    }

    private(set) var all: [ClientConnection] = []
    /// The number of pending requests for which the host must receive an advertisement from the peer before it can
    /// connect.
    private var awaitingCount = 0
    /// The established connections, sorted by client and peer.
    private var connected: [(client: ClientID, peer: PeerIdentifier, link: ConnectionHandle)] = []
    /// The index in ``connected`` that was used last.
    ///
    /// Most requests are for the same peer as the previous one.
    private var lastUsed = 0

    /// The time at which the next delay or timeout ends; `nil` if there is none.
    var deadline: Instant? {
        var least: Instant?
        for one in all {
            if case .delayed(let until) = one.state { least.bringForward(to: until) }
            least.bringForward(to: one.due)
        }
        return least
    }

    /// Returns the requests that have timed out.
    func overdue(at now: Instant) -> [ClientConnection] {
        all.filter { $0.due.map { $0 <= now } ?? false }
    }

    /// The addresses of the peers to connect to, without duplicates.
    var wanted: [DeviceAddress] {
        var addresses: [DeviceAddress] = []
        for clientConnection in all
        where clientConnection.state == .pending && !addresses.contains(clientConnection.address) {
            addresses.append(clientConnection.address)
        }
        return addresses
    }

    /// The kind of address that the first pending request asks for; `nil` for the host's default.
    var ownAddress: OwnAddressKind? { all.first { $0.state == .pending }?.request.ownAddress }

    /// True if there are pending requests for which the host must receive an advertisement before it can connect.
    var awaitsAdvertisements: Bool { awaitingCount > 0 }

    /// Records the current address of a peer for the clients that wait for the peer.
    ///
    /// Returns `true` if the address has changed.
    mutating func updatePendingAddress(of peer: PeerIdentifier, to address: DeviceAddress) -> Bool {
        var hasMoved = false
        for index in all.indices where all[index].peer == peer && all[index].state == .pending {
            hasMoved = hasMoved || all[index].address != address
            all[index].address = address
        }
        return hasMoved
    }

    /// Records the address at which to connect to a peer, for all clients.
    ///
    /// `isPrivate` is true if the peer's address changes.
    mutating func setAddress(of peer: PeerIdentifier, to address: DeviceAddress, isPrivate: Bool) {
        for index in all.indices where all[index].peer == peer {
            if all[index].awaitsAdvertisement { awaitingCount -= 1 }
            (all[index].address, all[index].isPrivate) = (address, isPrivate)
            if all[index].awaitsAdvertisement { awaitingCount += 1 }
        }
    }

    /// The number of connections and requests for connections.
    var count: Int { all.count }

    /// Returns the number of a client's connections and requests for connections.
    func count(of client: ClientID) -> Int { all.count { $0.client == client } }

    subscript(client: ClientID, peer: PeerIdentifier) -> ClientConnection? {
        index(client, peer).map { all[$0] }
    }

    /// Returns the link on which a client is connected to a peer; `nil` if the client is not connected.
    @inline(__always)
    mutating func link(of client: ClientID, to peer: PeerIdentifier) -> ConnectionHandle? {
        if !isConnected(client, peer, at: lastUsed) { lastUsed = connectedIndex(client, peer) }
        return isConnected(client, peer, at: lastUsed) ? connected[lastUsed].link : nil
    }

    func entries(of client: ClientID) -> [ClientConnection] { all.filter { $0.client == client } }
    func entries(to peer: PeerIdentifier) -> [ClientConnection] { all.filter { $0.peer == peer } }

    /// Returns the entries of clients that use a link, will use it, or wait for its end.
    func entries(on link: ConnectionHandle) -> [ClientConnection] {
        all.filter {
            switch $0.state {
            case .linked(link), .connected(link), .disconnecting(link, _): true
            case .delayed, .pending, .linked, .connected, .disconnecting: false
            }
        }
    }

    mutating func add(_ clientConnection: ClientConnection) {
        precondition(
            index(clientConnection.client, clientConnection.peer) == nil,
            "a client must be attached to a peer only once"
        )
        all.append(clientConnection)
        if clientConnection.awaitsAdvertisement { awaitingCount += 1 }
        updateConnected(clientConnection.state, of: clientConnection.client, clientConnection.peer)
    }

    /// Changes the state of an entry, which must exist.
    mutating func setState(_ state: State, for client: ClientID, _ peer: PeerIdentifier) {
        guard let index = index(client, peer) else { preconditionFailure("the client must be attached to the peer") }
        change(index, to: state)
        switch state {
        case .connected, .disconnecting: all[index].due = nil
        case .delayed, .pending, .linked: break
        }
    }

    /// Replaces the connection request in an entry, which must exist.
    mutating func update(_ request: ConnectRequest, for client: ClientID, _ peer: PeerIdentifier) {
        guard let index = index(client, peer) else { preconditionFailure("the client must be attached to the peer") }
        all[index].request = request
    }

    mutating func remove(_ client: ClientID, _ peer: PeerIdentifier) {
        guard let index = index(client, peer) else { return }
        if all.remove(at: index).awaitsAdvertisement { awaitingCount -= 1 }
        updateConnected(.pending, of: client, peer)
    }

    /// Changes the entries whose delay has ended to the state `pending`, and returns them.
    mutating func endDelays(at now: Instant) -> [ClientConnection] {
        var begun: [ClientConnection] = []
        for index in all.indices {
            guard case .delayed(let until) = all[index].state, until <= now else { continue }
            change(index, to: .pending)
            begun.append(all[index])
        }
        return begun
    }

    private mutating func change(_ index: Int, to state: State) {
        if all[index].awaitsAdvertisement { awaitingCount -= 1 }
        all[index].state = state
        if all[index].awaitsAdvertisement { awaitingCount += 1 }
        updateConnected(state, of: all[index].client, all[index].peer)
    }

    /// Updates ``connected`` for the new state of an entry.
    private mutating func updateConnected(_ state: State, of client: ClientID, _ peer: PeerIdentifier) {
        let place = connectedIndex(client, peer)
        if isConnected(client, peer, at: place) { connected.remove(at: place) }
        if case .connected(let link) = state { connected.insert((client, peer, link), at: place) }
    }

    /// Returns the index of a client and peer in ``connected``, or the index at which to insert them.
    private func connectedIndex(_ client: ClientID, _ peer: PeerIdentifier) -> Int {
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
