import BLEWire

// Requests of clients.
extension ChannelLayer {
    /// Requests a channel from the peer of a link.
    mutating func open(_ spsm: SPSM, on handle: ConnectionHandle, for requester: Requester, at now: Instant) {
        guard let link = links.index(of: handle) else { return outbox.append(.note(.unknownLink(handle))) }
        func refuse(_ failure: Failure) { reportResult(requester, spsm, .failure(failure), on: handle) }
        guard spsm.isValid else { return refuse(.invalidParameters) }
        guard let local = links.values[link].allocate(1).first else { return refuse(.limitReached) }
        let opening = ChannelLink.Opening(
            kind: .single,
            spsm: spsm,
            local: local,
            owner: .client(requester.client),
            number: requester.number
        )
        links.values[link].openings.append(opening)
        let identifier = links.values[link].exchange.begin(.open(local), at: now)
        let request = Signal.LECreditBasedConnectionRequest(
            spsm: spsm,
            source: local,
            mtu: UInt16(limits.channelMTU),
            mps: UInt16(limits.channelPacket),
            credits: UInt16(limits.channelCredits)
        )
        send(.leCreditBasedConnectionRequest(request), identifier, on: handle)
    }

    /// Requests up to five channels from the peer of a link with one signal.
    ///
    /// The peer may open only some of the channels.
    ///
    /// The owner gets an event for each channel. If there are too few free channel identifiers, this host requests
    /// fewer channels, and the requests for the others fail immediately.
    ///
    /// Core 6.0, Vol 3, Part A, 4.25.
    mutating func open(
        _ spsm: SPSM,
        count: Int,
        on handle: ConnectionHandle,
        for owner: CreditChannel.Owner,
        at now: Instant
    ) {
        precondition(Signal.channelsPerRequest.contains(count), "a request must be for one to five channels")
        guard let link = links.index(of: handle) else { return outbox.append(.note(.unknownLink(handle))) }
        func refuse(_ count: Int, _ failure: Failure) {
            for _ in 0..<count { reportResult(spsm, .failure(failure), owner, on: handle) }
        }
        guard spsm.isValid else { return refuse(count, .invalidParameters) }
        let locals = links.values[link].allocate(count)
        refuse(count - locals.count, .limitReached)
        guard !locals.isEmpty else { return }
        for local in locals {
            links.values[link].openings.append(.init(kind: .enhanced, spsm: spsm, local: local, owner: owner))
        }
        let identifier = links.values[link].exchange.begin(.openSeveral(locals), at: now)
        let request = Signal.CreditBasedConnectionRequest(
            spsm: spsm,
            mtu: UInt16(clamping: mtu(of: owner)),
            mps: UInt16(limits.channelPacket),
            credits: UInt16(limits.channelCredits),
            sources: locals
        )
        send(.creditBasedConnectionRequest(request), identifier, on: handle)
    }

    /// Publishes a channel of a client, which belongs to `app`, under a new PSM, so that peers can open it.
    mutating func publish(_ security: LinkRequirement, for client: ClientID, of app: ClientOwner = .program) {
        let count = publications.count { $0.owner == .client(client) || $0.app == app }
        guard app.isProgram || count < limits.publishedChannelsOfApp else {
            return outbox.append(.event(.server(.channelPublished(.none, .limitReached)), for: client))
        }
        var spsm = latestSPSM
        for _ in SPSM.dynamic.lowerBound.wire...SPSM.dynamic.upperBound.wire {
            spsm = spsm == SPSM.dynamic.upperBound ? SPSM.dynamic.lowerBound : SPSM(wire: spsm.wire &+ 1)
            guard !publications.contains(where: { $0.spsm == spsm }) else { continue }
            latestSPSM = spsm
            publications.append(Publication(spsm: spsm, owner: .client(client), security: security, app: app))
            return outbox.append(.event(.server(.channelPublished(spsm, nil)), for: client))
        }
        outbox.append(.event(.server(.channelPublished(.none, .limitReached)), for: client))
    }

    /// Unpublishes a channel.
    ///
    /// Open channels stay open.
    mutating func unpublish(_ spsm: SPSM, for client: ClientID) {
        let index = publications.firstIndex { $0.spsm == spsm && $0.owner == .client(client) }
        if let index { publications.remove(at: index) }
        outbox.append(.event(.server(.channelUnpublished(spsm, index == nil ? .notFound : nil)), for: client))
    }

    /// Carries out a client's request about one of its open channels.
    mutating func perform(_ request: ChannelRequest, on id: ChannelID, for client: ClientID, at now: Instant) {
        perform(request, on: id, for: .client(client), at: now)
    }

    /// Carries out a request about an open channel.
    ///
    /// Has no effect if the channel does not belong to `owner`.
    mutating func perform(
        _ request: ChannelRequest,
        on id: ChannelID,
        for owner: CreditChannel.Owner,
        at now: Instant
    ) {
        guard let (link, index) = find(id), links.values[link].channels[index].owner == owner else { return }
        let handle = links.handle(at: link)
        switch request {
        case .send(let sdu): submit(sdu, index, on: handle, at: now)
        case .consumed(let octets):
            links.values[link].channels[index].incoming.consume(octets)
            replenish(index, at: link)
        case .resize(let mtu, let mps): resize([id], mtu: mtu, mps: mps, on: handle, at: now)
        case .close: close(index, on: handle, at: now)
        }
    }

    /// Closes a channel at its owner's request, after its queued data have been sent.
    ///
    /// The owner immediately gets the event that the channel is closed, and no further events.
    private mutating func close(_ index: Int, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        report(to: links.values[link].channels[index].owner, of: links.values[link].channels[index].id, .closed(nil))
        if links.values[link].channels[index].close(at: now) == .disconnect { askToClose(index, on: handle, at: now) }
    }

    private mutating func submit(_ sdu: [UInt8], _ index: Int, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle), !sdu.isEmpty else { return }
        guard sdu.count <= links.values[link].channels[index].outgoing.mtu else {
            return abandon(index, .invalidParameters, on: handle, at: now)
        }
        guard links.values[link].channels[index].outgoing.queued + sdu.count <= limits.queuedChannelOctets else {
            outbox.append(.note(.limitReached(.queuedChannelOctets(handle))))
            return abandon(index, .limitReached, on: handle, at: now)
        }
        links.values[link].channels[index].outgoing.append(sdu)
        sendQueued(index, at: link)
    }

    /// Closes a client's channels on a link, and cancels its requests for channels, because the client is leaving the
    /// link.
    mutating func detach(_ client: ClientID, from handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        for index in links.values[link].openings.indices
        where links.values[link].openings[index].owner == .client(client) {
            reportResult(links.values[link].openings[index], .failure(.cancelled), on: handle)
            links.values[link].openings[index].owner = .noOwner
        }
        for one in links.values[link].deferred where one.requester.client == client {
            reportResult(one.requester, one.spsm, .failure(.cancelled), on: handle)
        }
        links.values[link].deferred.removeAll { $0.requester.client == client }
        for index in links.values[link].channels.indices
        where links.values[link].channels[index].owner == .client(client) {
            close(index, on: handle, at: now)
        }
    }

    /// Closes a client's channels, and removes its publications.
    mutating func clientClosed(_ client: ClientID, at now: Instant) {
        publications.removeAll { $0.owner == .client(client) }
        for handle in links.handles { detach(client, from: handle, at: now) }
    }

    /// Removes all publications.
    mutating func reset() { publications.removeAll() }

    /// Reports the result of a request for a channel to the owner that made the request.
    mutating func reportResult(
        _ opening: ChannelLink.Opening,
        _ result: Result<OpenedChannel, Failure>,
        on handle: ConnectionHandle
    ) {
        reportResult(opening.spsm, result, opening.owner, opening.number, on: handle)
    }

    /// Reports the result of a client's request for a channel with this PSM.
    mutating func reportResult(
        _ requester: Requester,
        _ spsm: SPSM,
        _ result: Result<OpenedChannel, Failure>,
        on handle: ConnectionHandle
    ) {
        reportResult(spsm, result, .client(requester.client), requester.number, on: handle)
    }

    /// Reports the result of a request for a channel with this PSM to the owner that made the request.
    mutating func reportResult(
        _ spsm: SPSM,
        _ result: Result<OpenedChannel, Failure>,
        _ owner: CreditChannel.Owner,
        _ number: RequestNumber = .none,
        on handle: ConnectionHandle
    ) {
        switch owner {
        case .client(let client):
            guard let peer = links[handle]?.peer else { return }
            outbox.append(.event(.peer(peer, .channelOpened(spsm, result), answering: number), for: client))
        case .attributes:
            switch result {
            case .success(let channel): outbox.append(.bearer(.opened(channel), of: handle))
            case .failure(let failure): outbox.append(.bearer(.refused(failure), of: handle))
            }
        case .noOwner: break
        }
    }
}
