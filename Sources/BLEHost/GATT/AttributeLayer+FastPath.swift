import BLEWire

// Fast paths: packets that can be processed, and requests that can be carried out, without a queue.
//
// Each function returns `false` or `nil`, without side effects, if the general path has to be taken instead.
extension AttributeLayer {
    /// Processes a notification.
    ///
    /// Returns `false`, without side effects, if ``receive(_:on:_:at:)`` has to process the packet instead.
    @inline(__always)
    mutating func deliverFast(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: packet.link) else { return false }
        return links[index].client.deliverFast(packet, in: octets, into: &outbox)
    }

    /// Processes the response to a read or write of one value.
    ///
    /// Returns `false`, without side effects, if ``receive(_:on:_:at:)`` has to process the packet instead.
    @inline(__always)
    mutating func answerFast(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        at now: Instant,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: packet.link) else { return false }
        return links[index].client.answerFast(packet, in: octets, at: now, into: &outbox)
    }

    /// Processes a write command for a value that a client provides, if the peer has most recently used an attribute
    /// or channel of the same client.
    ///
    /// Returns `false`, without side effects, if ``receive(_:on:_:at:)`` has to process the packet instead.
    mutating func performCommandFast(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: packet.link), let handle = packet.attribute(in: octets),
            packet.parameterCount - 2 <= configuration.limits.attributeLength,
            let trust = links[index].trustFast(forRequest: false),
            let owner = database.provider(of: handle, for: .write, on: trust),
            links[index].server.clients.isLatest(owner.client)
        else { return false }
        let part = WritePart(attribute: owner.id, value: outbox.copy(packet.value(in: octets, droppingFirst: 2)))
        let event = ServerEvent.writeRequested(nil, links[index].central, WriteGroup(part))
        outbox.append(.event(.server(event), for: owner.client))
        return true
    }

    /// Processes a read or write request for a value that a client provides, if the peer has most recently used an
    /// attribute or channel of the same client.
    ///
    /// Returns `false`, without side effects, if ``receive(_:on:_:at:)`` has to process the packet instead.
    mutating func serveFast(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        into outbox: inout HostOutbox
    ) -> Bool {
        let isRead = if case .readRequest = packet.kind { true } else { false }
        guard let index = index(of: packet.link), let handle = packet.attribute(in: octets),
            isRead ? packet.parameterCount == 2 : packet.parameterCount - 2 <= configuration.limits.attributeLength,
            let trust = links[index].trustFast(forRequest: true),
            let owner = database.provider(of: handle, for: isRead ? .read : .write, on: trust),
            links[index].server.clients.isLatest(owner.client)
        else { return false }
        let transaction = makeTransaction(on: packet.link)
        let asked = ServerLink.ClientQuery(transaction: transaction, client: owner.client)
        links[index].server.bearers[0].begin(asked, of: handle, isRead: isRead)
        let event: ServerEvent
        if isRead {
            event = .readRequested(transaction, links[index].central, owner.id, offset: 0)
        } else {
            let part = WritePart(attribute: owner.id, value: outbox.copy(packet.value(in: octets, droppingFirst: 2)))
            event = .writeRequested(transaction, links[index].central, WriteGroup(part))
        }
        outbox.append(.event(.server(event), for: owner.client))
        return true
    }

    /// Returns the response to a request that finds or reads attributes.
    ///
    /// Returns `nil` if ``receive(_:on:_:at:)`` has to process the request instead, for example because a client
    /// provides the value, or because the link is not secure enough, which counts as use of the client's attribute.
    mutating func searchFast(_ packet: AttributePacket, in octets: Span<UInt8>) -> OutgoingPayload? {
        guard let index = index(of: packet.link), let trust = links[index].trustFast(forRequest: true),
            let request = packet.search(in: octets)
        else { return nil }
        switch database.search(request, links[index].server.peerState(on: trust), mtu: links[index].client.mtu) {
        case .found(let response): return OutgoingPayload(response)
        case .provided: return nil
        case .refused(_, let code) where code.isLackOfSecurity: return nil
        case .refused(let handle, let code):
            return OutgoingPayload(.errorResponse(.init(request: request.opcode, handle: handle, code: code)))
        }
    }

    /// Sends a client's response to a plain read or write of one value.
    ///
    /// Returns `false`, without side effects, if ``perform(_:for:at:)`` has to carry out the request instead.
    @inline(__always)
    mutating func respondFast(
        _ transaction: ServerTransaction,
        with value: [UInt8],
        from client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        let asked = ServerLink.ClientQuery(transaction: transaction, client: client)
        guard let index = index(of: transaction),
            let isRead = links[index].server.bearers[0].isRead(by: asked)
        else { return false }
        let link = links[index].client.link,
            limit = min(links[index].client.mtu - 1, configuration.limits.attributeLength)
        let length = isRead ? min(value.count, limit) : 0
        guard scheduler.reserveBuffer(for: length + 1 + L2CAPHeader.size, of: link) else { return false }
        links[index].server.bearers[0].exchange.finishLast()
        outbox.send(isRead ? .readResponse : .writeResponse, nil, value, limit: length, on: link)
        return true
    }

    /// Sends a client's write command, or queues it until the controller has a free buffer.
    ///
    /// Returns `false`, without side effects, if ``perform(_:on:for:at:)`` has to carry out the request instead.
    @inline(__always)
    mutating func commandFast(
        _ value: [UInt8],
        to handle: AttributeHandle,
        on link: ConnectionHandle,
        for client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: link), links[index].client.mayCommandFast(client, octets: value.count) else {
            return false
        }
        if links[index].client.commands.isEmpty,
            scheduler.reserveBuffer(for: value.count + 3 + L2CAPHeader.size, of: link)
        {
            outbox.send(.writeCommand, handle, value, on: link)
            outbox.report(to: client, taken: .writeCommands(to: links[index].client.peer))
            return true
        }
        return enqueueCommand(value, to: handle, on: link, at: index, for: client, through: &scheduler)
    }

    /// Queues a write command until the controller has a free buffer.
    ///
    /// Returns `false`, without side effects, if too many commands are queued.
    @inline(never)
    private mutating func enqueueCommand(
        _ value: [UInt8],
        to handle: AttributeHandle,
        on link: ConnectionHandle,
        at index: Int,
        for client: ClientID,
        through scheduler: inout ACLScheduler
    ) -> Bool {
        guard links[index].client.commands.hasRoom(for: client) else { return false }
        let receipt = outbox.makeReceipt(for: link), payload = OutgoingPayload(.writeCommand, handle, value)
        guard scheduler.enqueue(payload, of: link, receipt: receipt) else { return false }
        links[index].client.commands.append(receipt, of: client)
        return true
    }

    /// Sends a client's read request, or its write request if the value fits into one packet.
    ///
    /// Returns `false`, without side effects, if ``perform(_:on:for:at:)`` has to carry out the request instead.
    @inline(__always)
    mutating func askFast(
        _ request: ATT.Opcode,
        of handle: AttributeHandle,
        _ value: [UInt8],
        on link: ConnectionHandle,
        for requester: Requester,
        at now: Instant,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: link), links[index].client.mayAskFast(requester.client, octets: value.count),
            scheduler.reserveBuffer(for: value.count + 3 + L2CAPHeader.size, of: link)
        else { return false }
        links[index].client.beginFast(request, of: handle, writing: value, for: requester, at: now)
        outbox.send(request, handle, value, on: link)
        return true
    }
}

extension AttributeLink {
    /// Returns the trust in the peer if the fast path can serve the peer's packet, and `nil` otherwise.
    ///
    /// The peer must be change-aware. If the packet is a request (`isRequest`), no other request may be
    /// pending.
    @inline(__always)
    fileprivate mutating func trustFast(forRequest isRequest: Bool) -> LinkTrust? {
        guard server.awareness.isAware, !isRequest || server.bearers[0].exchange.isIdle else { return nil }
        return client.trust
    }

    /// The peer, as a client of the local server; the same value as ``remote``.
    fileprivate var central: RemoteCentral {
        @inline(__always) mutating get { RemoteCentral(peer: client.peer, mtu: client.mtu) }
    }
}

extension ServerBearer {
    /// Records that a client was asked to answer a plain read (`isRead`) or a plain write.
    @inline(__always)
    fileprivate mutating func begin(_ asked: ServerLink.ClientQuery, of handle: AttributeHandle, isRead: Bool) {
        exchange.begin(
            .init(
                request: isRead ? .readRequest : .writeRequest,
                handle: handle,
                answer: isRead ? .reading(asked, for: .value) : .writing(asked)
            )
        )
    }

    /// Returns `true` if the request that `asked` identifies is a plain read, and `false` if it is a plain write.
    ///
    /// Returns `nil` if it is another kind of request, if it is not the pending one, or if more requests are queued.
    @inline(__always)
    fileprivate mutating func isRead(by asked: ServerLink.ClientQuery) -> Bool? {
        guard exchange.hasNoQueuedRequest else { return nil }
        return exchange.withPending { pending in
            switch pending.answer {
            case .reading(let other, .value): other == asked ? true : nil
            case .writing(let other): other == asked ? false : nil
            case .reading, .executing: nil
            }
        }
    }
}
