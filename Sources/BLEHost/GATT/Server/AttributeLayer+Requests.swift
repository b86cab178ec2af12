import BLEWire

extension AttributeLayer {
    /// Processes a packet from the peer's GATT client: a request, command or confirmation.
    mutating func serve(_ packet: ATTPacket, at position: BearerPosition, _ now: Instant) {
        switch packet {
        case .confirmation: confirm(at: position, now)
        case .writeCommand(let command): perform(command, at: position.link)
        case .signedWriteCommand(let command): perform(command, at: position.link)
        default: receive(.request(packet), at: position, now)
        }
    }

    /// Processes a request, which may be malformed, once all earlier requests on the same bearer have been answered.
    mutating func receive(
        _ incoming: ATTServerBearer<ServerLink.Pending>.Incoming,
        at position: BearerPosition,
        _ now: Instant
    ) {
        switch links[position.link].server.bearers[position.bearer].exchange.receive(incoming) {
        case .answer: answer(incoming, at: position, now)
        case .wait: break
        case .drop: outbox.append(.note(.limitReached(.queuedRequests(links[position.link].handle))))
        }
    }

    /// Responds to a request and then to the queued requests, until a response has to wait for a client.
    private mutating func answer(
        _ incoming: ATTServerBearer<ServerLink.Pending>.Incoming,
        at position: BearerPosition,
        _ now: Instant
    ) {
        var next: ATTServerBearer<ServerLink.Pending>.Incoming? = incoming
        while let current = next {
            switch current {
            case .unacceptable(let opcode, let code):
                finish(.refuse(.none, code), to: opcode, at: position, now)
            case .request(let request):
                let reply = refusal(of: request, at: position.link) ?? reply(to: request, at: position, now)
                noteHash(in: reply, to: request, at: position.link)
                if case .wait(let pending) = reply {
                    return links[position.link].server.bearers[position.bearer].exchange.suspend(pending)
                }
                finish(reply, to: request.opcode, at: position, now)
            }
            next = links[position.link].server.bearers[position.bearer].exchange.finish()
        }
    }

    /// Sends a response, and then carries out its ``FollowUp``.
    private mutating func finish(_ reply: Reply, to request: ATT.Opcode, at position: BearerPosition, _ now: Instant) {
        switch reply {
        case .wait: preconditionFailure("a waiting response cannot be sent")
        case .refuse(let handle, let code):
            if code.isLackOfSecurity { noteUse(of: handle, at: position.link) }
            send(.errorResponse(.init(request: request, handle: handle, code: code)), at: position)
        case .respond(let packet, .none): send(packet, at: position)
        case .respond(let packet, .store(let storedValues)):
            send(packet, at: position)
            for value in storedValues { store(value, at: position.link) }
        case .respond(let packet, .negotiated(let event)):
            send(packet, at: position)
            links[position.link].client.negotiated(event, at: now, into: &outbox)
            if event == .changed { announceSize(at: position.link) }
        }
    }

    /// Records that the peer has tried to use an attribute for which the link is not secure enough.
    ///
    /// From now on, the client that provides the attribute counts as a user of the link. Its app takes part if the peer
    /// pairs.
    private mutating func noteUse(of handle: AttributeHandle, at index: Int) {
        guard let client = database.services.first(where: { $0.range.contains(handle) })?.owner?.client,
            links[index].server.clients.note(client)
        else { return }
        outbox.append(.used(client))
    }

    /// Reports the new MTU of the link at `index` to the clients whose attributes the peer has used.
    mutating func announceSize(at index: Int) {
        for client in links[index].server.clients.all where database.clients.contains(client) {
            outbox.report(to: client, .server(.centralChanged(links[index].remote)))
        }
    }

    /// Responds to the request that has waited for clients, and continues with the queued requests.
    mutating func resume(with reply: Reply, at position: BearerPosition, _ now: Instant) {
        guard let pending = links[position.link].server.bearers[position.bearer].exchange.pending else { return }
        if case .wait(let pending) = reply {
            return links[position.link].server.bearers[position.bearer].exchange.suspend(pending)
        }
        finish(reply, to: pending.request, at: position, now)
        if let next = links[position.link].server.bearers[position.bearer].exchange.finish() {
            answer(next, at: position, now)
        }
    }

    mutating func send(_ packet: ATTPacket, at position: BearerPosition) {
        outbox.send(
            packet,
            on: links[position.link].server.bearers[position.bearer].id,
            of: links[position.link].handle
        )
    }

    /// Carries out a write command, or ignores it if it is not permitted.
    private mutating func perform(_ command: ATT.WriteCommand, at index: Int) {
        guard !links[index].server.isBlockedUntilAware else {
            return outbox.append(.note(.commandRefused(command.handle, .databaseOutOfSync, links[index].handle)))
        }
        let peerState = links[index].peerState
        switch database.write(command.value, to: command.handle, peerState, limits: configuration.limits) {
        case .store(let value): store(value, at: index)
        case .provided(let owner):
            let part = WritePart(attribute: owner.id, value: command.value)
            report(to: owner.client, .writeRequested(nil, links[index].remote, WriteGroup(part)), at: index)
        case .refused(let code): outbox.append(.note(.commandRefused(command.handle, code, links[index].handle)))
        }
    }

    /// Carries out a signed write command, or ignores it if its signature is invalid or was used before.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.5.4; Part C, 10.4.2.
    private mutating func perform(_ command: ATT.SignedWriteCommand, at index: Int) {
        var signing = links[index].client.bond.stored?.remoteSigning
        guard signing?.verify(command) == true else {
            return outbox.append(.note(.unverifiedWrite(links[index].handle)))
        }
        changeBond(at: index) { $0.remoteSigning = signing }
        perform(ATT.WriteCommand(handle: command.handle, value: command.value), at: index)
    }

    /// Stores a value that a peer wrote.
    ///
    /// If the value changes the peer's subscription to a characteristic, the client that provides the characteristic is
    /// informed.
    private mutating func store(_ storedValue: GATTDatabase.StoredValue, at index: Int) {
        switch storedValue {
        case .value(let handle, let value): database.store(value, at: handle)
        case .features(let features):
            links[index].server.setFeatures(features)
            rememberClient(at: index)
        case .configuration(let handle, let about, let bits):
            // The service may have been removed while other clients were asked.
            guard database.attribute(at: handle)?.content == .configuration(about) else { return }
            let old = links[index].server.configurations[handle]
            configure(handle, bits, at: index)
            rememberClient(at: index)
            dropUnwanted(of: about.value, configuration: bits, at: index)
            guard let owner = about.owner, (old == 0) != (bits == 0) else { return }
            let event: ServerEvent =
                bits == 0
                ? .unsubscribed(links[index].remote, from: owner.id) : .subscribed(links[index].remote, to: owner.id)
            report(to: owner.client, event, at: index)
        }
    }
}
