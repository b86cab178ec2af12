import BLEWire

// What clients ask.
extension ChannelLayer {
    /// Asks the peer of a link to open a channel.
    mutating func open(_ spsm: SPSM, on handle: ConnectionHandle, for client: ClientID, at now: Instant) {
        guard let link = links.index(of: handle) else { return outbox.append(.note(.unknownLink(handle))) }
        func refuse(_ failure: Failure) {
            outbox.append(.event(.peer(links[at: link].peer, .channelOpened(spsm, .failure(failure))), for: client))
        }
        guard spsm.isValid else { return refuse(.invalidParameters) }
        guard let local = links[at: link].allocate(1).first else { return refuse(.limitReached) }
        let opening = ChannelLink.Opening(kind: .single, spsm: spsm, local: local, owner: .client(client))
        links[at: link].openings.append(opening)
        let identifier = links[at: link].exchange.begin(.open(local), at: now)
        let request = Signal.LECreditBasedConnectionRequest(
            spsm: spsm,
            source: local,
            mtu: UInt16(limits.channelMTU),
            mps: UInt16(limits.channelPacket),
            credits: UInt16(limits.channelCredits)
        )
        send(.leCreditBasedConnectionRequest(request), identifier, on: handle)
    }

    /// Lets peers open channels to a client.
    mutating func publish(_ security: LinkSecurity, for client: ClientID) {
        var spsm = latestSPSM
        for _ in SPSM.dynamic.lowerBound.wire...SPSM.dynamic.upperBound.wire {
            spsm = spsm == SPSM.dynamic.upperBound ? SPSM.dynamic.lowerBound : SPSM(wire: spsm.wire &+ 1)
            guard !publications.contains(where: { $0.spsm == spsm }) else { continue }
            latestSPSM = spsm
            publications.append(Publication(spsm: spsm, client: client, security: security))
            return outbox.append(.event(.server(.channelPublished(spsm, nil)), for: client))
        }
        outbox.append(.event(.server(.channelPublished(.none, .limitReached)), for: client))
    }

    /// Lets peers open no more channels of this kind.
    mutating func unpublish(_ spsm: SPSM, for client: ClientID) {
        let index = publications.firstIndex { $0.spsm == spsm && $0.client == client }
        if let index { publications.remove(at: index) }
        outbox.append(.event(.server(.channelUnpublished(spsm, index == nil ? .notFound : nil)), for: client))
    }

    /// Carries out what a client asks of a channel that is open and its own.
    mutating func perform(_ request: ChannelRequest, on id: ChannelID, for client: ClientID, at now: Instant) {
        guard let (link, index) = find(id), links[at: link][index].owner == .client(client) else { return }
        let handle = links.handle(at: link)
        switch request {
        case .send(let unit): submit(unit, index, on: handle, at: now)
        case .consumed(let octets):
            links[at: link][index].incoming.consume(octets)
            replenish(index, at: link)
        case .close: close(index, on: handle, at: now)
        }
    }

    /// Closes a channel for its owner, who hears of it no more, when what it sent has gone.
    private mutating func close(_ index: Int, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        tell(links[at: link][index].owner, of: links[at: link][index].id, .closed(nil))
        if links[at: link][index].close(at: now) == .disconnect { askToClose(index, on: handle, at: now) }
    }

    private mutating func submit(_ unit: [UInt8], _ index: Int, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle), !unit.isEmpty else { return }
        guard unit.count <= links[at: link][index].outgoing.mtu else {
            return abandon(index, .invalidParameters, on: handle, at: now)
        }
        guard links[at: link][index].outgoing.queued + unit.count <= limits.queuedChannelOctets else {
            outbox.append(.note(.limitReached(.queuedChannelOctets(handle))))
            return abandon(index, .limitReached, on: handle, at: now)
        }
        links[at: link][index].outgoing.append(unit)
        pump(index, at: link)
    }

    /// A client is not connected to the peer of a link any more: what it has there ends.
    mutating func detach(_ client: ClientID, from handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        let peer = links[at: link].peer
        for index in links[at: link].openings.indices where links[at: link].openings[index].owner == .client(client) {
            tell(links[at: link].openings[index], .failure(.cancelled), of: peer)
            links[at: link].openings[index].owner = .nobody
        }
        for index in links[at: link].channels.indices where links[at: link][index].owner == .client(client) {
            close(index, on: handle, at: now)
        }
    }

    /// Forgets a client: its channels are closed, and what it published is not there any more.
    mutating func clientClosed(_ client: ClientID, at now: Instant) {
        publications.removeAll { $0.client == client }
        for handle in links.handles { detach(client, from: handle, at: now) }
    }

    /// Forgets what clients published: the radio went off, and links with it.
    mutating func reset() { publications.removeAll() }

    /// Answers a client that wanted a channel.
    mutating func tell(
        _ opening: ChannelLink.Opening,
        _ result: Result<OpenedChannel, Failure>,
        of peer: PeerIdentifier
    ) {
        switch opening.owner {
        case .client(let client):
            outbox.append(.event(.peer(peer, .channelOpened(opening.spsm, result)), for: client))
        case .nobody: break
        }
    }
}
