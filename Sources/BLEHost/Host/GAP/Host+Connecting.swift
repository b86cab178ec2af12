import BLEWire

// Connection requests of clients.
extension Host {
    /// Returns the link to a peer in either role; `nil` if there is no link, or if this host is ending it.
    func link(to peer: PeerIdentifier) -> ConnectionHandle? {
        links.handle { $0.peer == peer && !$0.isClosing }
    }

    /// Processes a client's connection request.
    ///
    /// Only test suites choose the host's address; other clients could otherwise reveal the identity address of a
    /// private host.
    mutating func connect(
        _ client: ClientID,
        to peer: PeerIdentifier,
        _ request: ConnectRequest,
        at now: Instant
    ) {
        var request = request
        if clients.role(of: client) != .tester { request.ownAddress = nil }
        if let clientConnection = clientConnections[client, peer] {
            return connectAgain(clientConnection, request)
        }
        if request.isRenewal { return }
        guard peers.address(of: peer) != nil else { return report(to: client, .connectFailed(peer, .notFound)) }
        let waits = linkShortage.hasReported(client, peer)
        if let limit = limit(for: client, to: peer, waits: waits || request.reconnects) {
            note(.limitReached(limit))
            if limit == .links { linkShortage.report(client, peer, limit: configuration.limits.pendingPeers) }
            return report(to: client, .connectFailed(peer, .limitReached))
        }
        remember(peers.wanted(peer))
        guard let place = connectionAddress(of: peer) else {
            return report(to: client, .connectFailed(peer, .notFound))
        }
        if case .ready(let controller) = phase, !canUseAddress(request.ownAddress, on: controller) {
            return report(to: client, .connectFailed(peer, .notSupported))
        }
        let isDelayed = request.startDelay > .zero
        let clientConnection = ClientConnections.ClientConnection(
            client: client,
            peer: peer,
            address: place.address,
            isPrivate: place.isPrivate,
            request: request,
            state: isDelayed ? .delayed(until: now + request.startDelay) : .pending,
            waits: waits,
            due: request.timeout.map { now + max($0, .zero) }
        )
        clientConnections.add(clientConnection)
        if !isDelayed { useExistingLink(for: clientConnection, at: now) }
    }

    /// Updates the address at which to connect to a peer, after a change of the peer's bond.
    mutating func updateConnectionAddress(of peer: PeerIdentifier) {
        guard let place = connectionAddress(of: peer) else { return }
        clientConnections.setAddress(of: peer, to: place.address, isPrivate: place.isPrivate)
    }

    /// Returns the limit that prevents a client from connecting to another peer; `nil` if there is none.
    ///
    /// `waits` is true if the request waits for a link to end when all links are in use. The number of links then does
    /// not limit the client.
    private func limit(for client: ClientID, to peer: PeerIdentifier, waits: Bool) -> Note.Limit? {
        let limits = configuration.limits
        if !waits && lacksLinks && link(to: peer) == nil { return .links }
        if clientConnections.count >= limits.pendingPeers { return .pendingPeers }
        return clientConnections.count(of: client) >= limits.pendingPeersOfClient ? .pendingPeersOfClient : nil
    }

    /// True if a link must end before there can be another one, and none is about to end.
    var lacksLinks: Bool {
        let count = links.values.count { !$0.isClosing }
        return count >= configuration.limits.links || !linkShortage.allowsLink(after: count)
    }

    /// Fails all pending connection requests except those that wait for a link to end, because no further link is
    /// possible.
    mutating func failForLackOfLinks() {
        let failing = clientConnections.all.filter { $0.state == .pending && !$0.waitsForLink }
        if !failing.isEmpty { note(.limitReached(.links)) }
        for clientConnection in failing {
            let limit = configuration.limits.pendingPeers
            linkShortage.report(clientConnection.client, clientConnection.peer, limit: limit)
            endConnection(clientConnection, .limitReached)
        }
    }

    private mutating func connectAgain(
        _ clientConnection: ClientConnections.ClientConnection,
        _ request: ConnectRequest
    ) {
        let client = clientConnection.client, peer = clientConnection.peer, asNewRequest = request.asNewRequest
        switch clientConnection.state {
        case .delayed, .pending, .linked:
            clientConnections.update(asNewRequest, for: client, peer)
            if lacksLinks { failForLackOfLinks() }
        case .connected(let link):
            clientConnections.update(asNewRequest, for: client, peer)
            if !request.isRenewal { report(to: client, .connected(peer, parameters(of: link, to: peer))) }
        case .disconnecting(_, again: nil) where request.isRenewal: break
        case .disconnecting(let link, _):
            clientConnections.setState(.disconnecting(link, again: asNewRequest), for: client, peer)
        }
    }

    /// If there already is a link to the peer of a connection request, attaches the client to that link.
    mutating func useExistingLink(for clientConnection: ClientConnections.ClientConnection, at now: Instant) {
        guard let link = link(to: clientConnection.peer) else { return }
        clientConnections.setState(.linked(link), for: clientConnection.client, clientConnection.peer)
        if links[link]?.phase == .up { reportConnected(clientConnection, link, at: now) }
    }

    /// Tells a client that it is connected.
    private mutating func reportConnected(
        _ clientConnection: ClientConnections.ClientConnection,
        _ link: ConnectionHandle,
        at now: Instant
    ) {
        clientConnections.setState(.connected(link), for: clientConnection.client, clientConnection.peer)
        withLayers(at: now) { attributes, _ in attributes.attach(clientConnection.client, to: link) }
        report(
            to: clientConnection.client,
            .connected(clientConnection.peer, parameters(of: link, to: clientConnection.peer))
        )
        if let details = links[link]?.details {
            report(to: clientConnection.client, .peer(clientConnection.peer, .linkChanged(details)))
        }
        askForProof(on: link, at: now)
    }

    mutating func parameters(of link: ConnectionHandle, to peer: PeerIdentifier) -> LinkParameters {
        let mtu = layers.attributes.mtu(of: link) ?? ATT.defaultMTU
        return LinkParameters(mtu: mtu, name: peers.name(of: peer))
    }

    /// Records that the MTU of a link is settled, and tells the waiting clients that they are connected.
    mutating func mtuSettled(on link: ConnectionHandle, at now: Instant) {
        guard let index = links.index(of: link), links.values[index].mtuSettled() else { return }
        announceLinks()
        for clientConnection in clientConnections.entries(on: link) where clientConnection.state == .linked(link) {
            reportConnected(clientConnection, link, at: now)
        }
    }

    mutating func cancel(_ client: ClientID, _ peer: PeerIdentifier, at now: Instant) {
        // If the connection has already ended, the client has received the event about that.
        guard let clientConnection = clientConnections[client, peer] else { return }
        switch clientConnection.state {
        case .delayed, .pending:
            clientConnections.remove(client, peer)
            report(to: client, .disconnected(peer, nil, isReconnecting: false))
        case .linked(let link), .connected(let link): removeFromLink(clientConnection, link, at: now)
        case .disconnecting(let link, _):
            clientConnections.setState(.disconnecting(link, again: nil), for: client, peer)
        }
    }

    /// Removes a client from a link.
    ///
    /// The link ends if this host is the central and no other client uses the link.
    private mutating func removeFromLink(
        _ clientConnection: ClientConnections.ClientConnection,
        _ link: ConnectionHandle,
        at now: Instant
    ) {
        let client = clientConnection.client, peer = clientConnection.peer
        guard let state = links[link] else { preconditionFailure("a connected peer has a link") }
        detach(client, from: link, at: now)
        let isShared = clientConnections.entries(on: link).contains { $0.client != client && $0.state.link != nil }
        guard state.isClosing || state.role == .central && !isShared else {
            clientConnections.remove(client, peer)
            return report(to: client, .disconnected(peer, nil, isReconnecting: false))
        }
        clientConnections.setState(.disconnecting(link, again: nil), for: client, peer)
        release(link, at: now)
    }

    /// Detaches a client from a link, which fails the client's pending requests on the link.
    private mutating func detach(_ client: ClientID, from link: ConnectionHandle, at now: Instant) {
        withLayers(at: now) { attributes, channels in
            channels.detach(client, from: link, at: now)
            attributes.detach(client, from: link, at: now)
        }
        failPendingRequests(of: client, on: link, at: now)
    }

    /// Fails a client's pending requests to the controller about a link, such as reading the RSSI.
    mutating func failPendingRequests(of client: ClientID, on link: ConnectionHandle, at now: Instant) {
        let pendingRequests = links.update(link) { $0.control.removeRequests(client) } ?? []
        for pending in pendingRequests { finish(pending, .notConnected, on: link, at: now) }
    }

    /// Fails the connection requests that have timed out.
    mutating func failOverdueConnections(at now: Instant) {
        for clientConnection in clientConnections.overdue(at: now) {
            clientConnections.remove(clientConnection.client, clientConnection.peer)
            report(to: clientConnection.client, .connectFailed(clientConnection.peer, .timedOut))
            if let link = clientConnection.state.link { disconnectIfUnused(link, at: now) }
        }
    }

    /// Ends the connections and connection requests of a client whose session is closed.
    mutating func abandon(_ client: ClientID, at now: Instant) {
        linkShortage.forget(client)
        for clientConnection in clientConnections.entries(of: client) {
            clientConnections.remove(client, clientConnection.peer)
            guard let link = clientConnection.state.link else { continue }
            detach(client, from: link, at: now)
            disconnectIfUnused(link, at: now)
        }
    }

    /// Ends a client's connection or connection request with `failure`.
    mutating func endConnection(_ clientConnection: ClientConnections.ClientConnection, _ failure: Failure) {
        clientConnections.remove(clientConnection.client, clientConnection.peer)
        switch clientConnection.state {
        case .delayed, .pending, .linked:
            report(to: clientConnection.client, .connectFailed(clientConnection.peer, failure))
        case .connected:
            report(to: clientConnection.client, .disconnected(clientConnection.peer, failure, isReconnecting: false))
        case .disconnecting(_, let again):
            report(to: clientConnection.client, .disconnected(clientConnection.peer, nil, isReconnecting: false))
            if again != nil { report(to: clientConnection.client, .connectFailed(clientConnection.peer, failure)) }
        }
    }
}
