import BLEWire

// Responses of peers to this host's requests for channels.
extension ChannelLayer {
    /// Processes the response to a request for one channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.23.
    mutating func opened(
        _ response: Signal.LECreditBasedConnectionResponse,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let link = links.index(of: handle) else { return }
        let request = links.values[link].exchange.finish(identifier) { if case .open = $0 { true } else { false } }
        guard case .open(let local)? = request else { return ignoreLateResponse(on: handle) }
        guard response.result == .success else { return refused(local, response.result, on: handle) }
        let outgoing = flow(mtu: response.mtu, mps: response.mps, credits: response.credits)
        let isAllowed = ChannelSizes.single.allow(mtu: response.mtu, mps: response.mps)
        open(local, response.destination, outgoing, isAllowed: isAllowed, on: handle, at: now)
    }

    /// Processes the response to a request for several channels.
    ///
    /// The peer may first respond that the request is pending.
    ///
    /// Core 6.0, Vol 3, Part A, 4.26.
    mutating func opened(
        _ response: Signal.CreditBasedConnectionResponse,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let link = links.index(of: handle) else { return }
        func fits(_ request: SignalExchange.Request) -> Bool {
            if case .openSeveral = request { true } else { false }
        }
        if response.result.isPending {
            if !links.values[link].exchange.postpone(identifier, at: now, where: fits) {
                ignoreLateResponse(on: handle)
            }
            return
        }
        let request = links.values[link].exchange.finish(identifier, where: fits)
        guard case .openSeveral(let locals)? = request else { return ignoreLateResponse(on: handle) }
        let outgoing = flow(mtu: response.mtu, mps: response.mps, credits: response.credits)
        let isAllowed = ChannelSizes.enhanced.allow(mtu: response.mtu, mps: response.mps)
        let refusal = response.result == .success ? .insufficientResources : response.result
        for (position, local) in locals.enumerated() {
            let remote = position < response.destinations.count ? response.destinations[position] : .none
            if remote == .none {
                fail([local], .channel(refusal), on: handle)
            } else {
                open(local, remote, outgoing, isAllowed: isAllowed, on: handle, at: now)
            }
        }
    }

    /// Records that the peer has opened a channel.
    ///
    /// If the peer's channel identifier is invalid, the request for the channel fails. If the identifier belongs to
    /// another channel, the request fails, and the other channel is closed.
    ///
    /// `isAllowed` is false if the MTU or MPS that the peer has announced is not allowed. The request then fails, and
    /// this host closes the new channel.
    private mutating func open(
        _ local: ChannelIdentifier,
        _ remote: ChannelIdentifier,
        _ outgoing: OutgoingFlow,
        isAllowed: Bool,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let link = links.index(of: handle), let opening = links.values[link].take(local) else { return }
        func refuse() { reportResult(opening, .failure(.peerMisbehaved), on: handle) }
        guard remote.isDynamic else { return refuse() }
        if let index = links.values[link].index(remote: remote) {
            discard(index, .peerMisbehaved, on: handle)
            return refuse()
        }
        let owner = isAllowed ? opening.owner : .noOwner
        let channel = insert(opening.kind, opening.spsm, local, remote, owner, outgoing, on: handle)
        guard owner == .noOwner else { return reportResult(opening, .success(channel.opened), on: handle) }
        refuse()
        if let (_, index) = find(channel.id) { abandon(index, nil, on: handle, at: now) }
    }

    /// Records that the peer has refused a channel.
    ///
    /// If the peer requires a more secure link, a client's request is repeated once the link is secure enough.
    private mutating func refused(
        _ local: ChannelIdentifier,
        _ result: Signal.ConnectionResult,
        on handle: ConnectionHandle
    ) {
        guard [.insufficientAuthentication, .insufficientEncryption].contains(result),
            let link = links.index(of: handle),
            case .client(let client)? = links.values[link].openings.first(where: { $0.local == local })?.owner,
            let opening = links.values[link].take(local)
        else { return fail([local], .channel(result), on: handle) }
        links.values[link].deferred.append(
            .init(requester: Requester(client, opening.number), spsm: opening.spsm, refusal: result)
        )
        outbox.append(.secure(handle, for: result))
    }

    /// Processes the result of an attempt to raise the security of a link.
    ///
    /// If the attempt succeeded, the channels that the peer had refused are requested again. Otherwise the requests for
    /// them fail, with the peer's error unless `answer` contains a better description.
    mutating func securityAnswered(_ handle: ConnectionHandle, _ answer: SecurityAnswer, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        let deferred = links.values[link].deferred
        links.values[link].deferred = []
        for one in deferred {
            switch answer {
            case .secured: open(one.spsm, on: handle, for: one.requester, at: now)
            case .refused(let failure):
                reportResult(one.requester, one.spsm, .failure(failure ?? .channel(one.refusal)), on: handle)
            }
        }
    }

    /// Fails the requests for these channels.
    mutating func fail(_ locals: [ChannelIdentifier], _ failure: Failure, on handle: ConnectionHandle) {
        guard let link = links.index(of: handle) else { return }
        for local in locals {
            guard let opening = links.values[link].take(local) else { continue }
            reportResult(opening, .failure(failure), on: handle)
        }
    }

    /// Creates a channel from the parameters that the peer and this host have announced.
    mutating func insert(
        _ kind: CreditChannel.Kind,
        _ spsm: SPSM,
        _ local: ChannelIdentifier,
        _ remote: ChannelIdentifier,
        _ owner: CreditChannel.Owner,
        _ outgoing: OutgoingFlow,
        on handle: ConnectionHandle
    ) -> CreditChannel {
        let incoming = IncomingFlow(mtu: mtu(of: owner), mps: limits.channelPacket, window: limits.channelCredits)
        let channel = CreditChannel(
            id: makeID(),
            kind: kind,
            spsm: spsm,
            local: local,
            remote: remote,
            owner: owner,
            incoming: incoming,
            outgoing: outgoing
        )
        insert(channel, on: handle)
        return channel
    }
}

extension ChannelLayer {
    /// Returns the MTU, in octets, that this host offers on channels with this owner.
    func mtu(of owner: CreditChannel.Owner) -> Int {
        switch owner {
        case .attributes: bearerMTU ?? limits.channelMTU
        case .client, .noOwner: limits.channelMTU
        }
    }
}

extension ChannelLink {
    /// Removes and returns the request for the channel with this local identifier; `nil` if there is none.
    fileprivate mutating func take(_ local: ChannelIdentifier) -> Opening? {
        guard let index = openings.firstIndex(where: { $0.local == local }) else { return nil }
        return openings.remove(at: index)
    }
}

extension Signal.ConnectionResult {
    /// True if the request is pending, and another response will follow.
    fileprivate var isPending: Bool {
        [.pending, .authenticationPending, .authorizationPending].contains(self)
    }
}
