import BLEWire

// Connection requests of clients.
extension Host {
    /// Returns the link to a peer in either role.
    func link(to peer: PeerIdentifier) -> ConnectionHandle? {
        links.handle { $0.peer == peer && !$0.isClosing }
    }

    mutating func connect(
        _ client: ClientID,
        to peer: PeerIdentifier,
        _ request: ConnectRequest,
        at now: Instant
    ) {
        if let attachment = attachments[client, peer] {
            return connectAgain(attachment, request)
        }
        if request.isRenewal { return }
        guard peers.address(of: peer) != nil else { return tell(client, .connectFailed(peer, .notFound)) }
        if let limit = limit(for: client, to: peer) {
            note(.limitReached(limit))
            return tell(client, .connectFailed(peer, .limitReached))
        }
        remember(peers.wanted(peer))
        guard let place = place(of: peer) else { return tell(client, .connectFailed(peer, .notFound)) }
        if case .ready(let controller) = phase, !canShow(request.ownAddress, on: controller) {
            return tell(client, .connectFailed(peer, .notSupported))
        }
        let isDelayed = request.startDelay > .zero
        let attachment = Attachments.Attachment(
            client: client,
            peer: peer,
            address: place.address,
            isPrivate: place.isPrivate,
            request: request,
            state: isDelayed ? .delayed(until: now + request.startDelay) : .pending,
            due: request.timeout.map { now + max($0, .zero) }
        )
        attachments.add(attachment)
        if !isDelayed { attach(attachment, at: now) }
    }

    /// Returns the limit that prevents a client from connecting to another peer; `nil` if there is none.
    private func limit(for client: ClientID, to peer: PeerIdentifier) -> Note.Limit? {
        let limits = configuration.limits
        if links.count >= limits.links && link(to: peer) == nil { return .links }
        if attachments.count >= limits.pendingPeers { return .pendingPeers }
        return attachments.count(of: client) >= limits.pendingPeersOfClient ? .pendingPeersOfClient : nil
    }

    private mutating func connectAgain(_ attachment: Attachments.Attachment, _ request: ConnectRequest) {
        let client = attachment.client, peer = attachment.peer, standing = request.standing
        switch attachment.state {
        case .delayed, .pending, .linked: attachments.update(standing, for: client, peer)
        case .connected(let link):
            attachments.update(standing, for: client, peer)
            if !request.isRenewal { tell(client, .connected(peer, parameters(of: link, to: peer))) }
        case .leaving(_, again: nil) where request.isRenewal: break
        case .leaving(let link, _): attachments.set(.leaving(link, again: standing), for: client, peer)
        }
    }

    /// Attaches a waiting client to the existing link to its peer, if there is one.
    mutating func attach(_ attachment: Attachments.Attachment, at now: Instant) {
        guard let link = link(to: attachment.peer) else { return }
        attachments.set(.linked(link), for: attachment.client, attachment.peer)
        if links[link]?.phase == .up { join(attachment, link, at: now) }
    }

    /// Tells a client that it is connected.
    private mutating func join(_ attachment: Attachments.Attachment, _ link: ConnectionHandle, at now: Instant) {
        attachments.set(.connected(link), for: attachment.client, attachment.peer)
        withLayers(at: now) { attributes, _ in attributes.attach(attachment.client, to: link) }
        tell(attachment.client, .connected(attachment.peer, parameters(of: link, to: attachment.peer)))
        if let details = links[link]?.details {
            tell(attachment.client, .peer(attachment.peer, .linkChanged(details)))
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
        for attachment in attachments.on(link) where attachment.state == .linked(link) {
            join(attachment, link, at: now)
        }
    }

    mutating func cancel(_ client: ClientID, _ peer: PeerIdentifier, at now: Instant) {
        // If the connection has already ended, the client has received the event about that.
        guard let attachment = attachments[client, peer] else { return }
        switch attachment.state {
        case .delayed, .pending:
            attachments.remove(client, peer)
            tell(client, .disconnected(peer, nil, isReconnecting: false))
        case .linked(let link), .connected(let link): leave(attachment, link, at: now)
        case .leaving(let link, _): attachments.set(.leaving(link, again: nil), for: client, peer)
        }
    }

    /// Removes a client from a link.
    ///
    /// The link ends if this host is the central and no other client uses the link.
    private mutating func leave(
        _ attachment: Attachments.Attachment,
        _ link: ConnectionHandle,
        at now: Instant
    ) {
        let client = attachment.client, peer = attachment.peer
        guard let state = links[link] else { preconditionFailure("a connected peer has a link") }
        detach(client, from: link, at: now)
        let isShared = attachments.on(link).contains { $0.client != client && $0.state.link != nil }
        guard state.isClosing || state.role == .central && !isShared else {
            attachments.remove(client, peer)
            return tell(client, .disconnected(peer, nil, isReconnecting: false))
        }
        attachments.set(.leaving(link, again: nil), for: client, peer)
        release(link, at: now)
    }

    /// Fails all of a client's requests on a link.
    private mutating func detach(_ client: ClientID, from link: ConnectionHandle, at now: Instant) {
        withLayers(at: now) { attributes, channels in
            channels.detach(client, from: link, at: now)
            attributes.detach(client, from: link, at: now)
        }
        answerErrands(of: client, on: link, at: now)
    }

    /// Fails a client's requests about a link itself, such as to read the RSSI.
    mutating func answerErrands(of client: ClientID, on link: ConnectionHandle, at now: Instant) {
        let pendingRequests = links.update(link) { $0.control.removeRequests(client) } ?? []
        for pending in pendingRequests { finish(pending, .notConnected, on: link, at: now) }
    }

    /// Fails the connection requests that have timed out.
    mutating func giveUpOverdue(at now: Instant) {
        for attachment in attachments.overdue(at: now) {
            attachments.remove(attachment.client, attachment.peer)
            tell(attachment.client, .connectFailed(attachment.peer, .timedOut))
            if let link = attachment.state.link { disconnectIfUnused(link, at: now) }
        }
    }

    /// Ends the connections and connection requests of a client whose session is closed.
    mutating func abandon(_ client: ClientID, at now: Instant) {
        for attachment in attachments.of(client) {
            attachments.remove(client, attachment.peer)
            guard let link = attachment.state.link else { continue }
            detach(client, from: link, at: now)
            disconnectIfUnused(link, at: now)
        }
    }

    /// Ends a client's connection or connection request with `failure`.
    mutating func end(_ attachment: Attachments.Attachment, _ failure: Failure) {
        attachments.remove(attachment.client, attachment.peer)
        switch attachment.state {
        case .delayed, .pending, .linked: tell(attachment.client, .connectFailed(attachment.peer, failure))
        case .connected: tell(attachment.client, .disconnected(attachment.peer, failure, isReconnecting: false))
        case .leaving(_, let again):
            tell(attachment.client, .disconnected(attachment.peer, nil, isReconnecting: false))
            if again != nil { tell(attachment.client, .connectFailed(attachment.peer, failure)) }
        }
    }
}
