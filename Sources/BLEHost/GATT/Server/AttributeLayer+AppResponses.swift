import BLEWire

extension AttributeLayer {
    /// Requests a value from the client that provides it, and returns a reply that waits for the client's answer.
    ///
    /// `offset` is the position of the first requested octet. `reading` is the kind of response to make from the value.
    mutating func ask(
        _ owner: GATTDatabase.Owner,
        offset: Int,
        of handle: AttributeHandle,
        for request: ATT.Opcode,
        _ reading: ServerLink.Reading,
        at position: BearerPosition
    ) -> Reply {
        let transaction = makeTransaction(on: links[position.link].handle)
        let event = ServerEvent.readRequested(transaction, links[position.link].remote, owner.id, offset: offset)
        report(to: owner.client, event, at: position.link)
        let asked = ServerLink.ClientQuery(transaction: transaction, client: owner.client)
        return .wait(.init(request: request, handle: handle, answer: .reading(asked, for: reading)))
    }

    /// Asks a client whether it accepts an atomic group of writes.
    mutating func askToWrite(_ parts: [WritePart], client: ClientID, at position: BearerPosition)
        -> ServerLink.ClientQuery
    {
        let transaction = makeTransaction(on: links[position.link].handle)
        report(
            to: client,
            .writeRequested(transaction, links[position.link].remote, WriteGroup(parts)),
            at: position.link
        )
        return ServerLink.ClientQuery(transaction: transaction, client: client)
    }

    /// Delivers an event about the peer of the link at `index` to a client whose attribute the peer has used.
    mutating func report(to client: ClientID, _ event: ServerEvent, at index: Int) {
        if links[index].server.clients.note(client) { outbox.append(.used(client)) }
        outbox.report(to: client, .server(event))
    }

    /// Records that the peer of a link has used an attribute or channel of a client; returns whether that is the first
    /// time.
    mutating func noteUse(of client: ClientID, on link: ConnectionHandle) -> Bool {
        index(of: link).map { links[$0].server.clients.note(client) } ?? false
    }

    /// Returns the clients whose attributes or channels the peer of a link has used.
    func servedClients(on link: ConnectionHandle) -> [ClientID] {
        index(of: link).map { links[$0].server.clients.all } ?? []
    }

    /// Returns a new transaction identifier, which contains the connection handle of the link.
    mutating func makeTransaction(on link: ConnectionHandle) -> ServerTransaction {
        lastTransaction = (lastTransaction + 1) & 0xFFFF_FFFF_FFFF
        return ServerTransaction(rawValue: UInt64(link.wire) << 48 | lastTransaction)
    }

    /// Processes a client's answer to a read or write request from a peer.
    mutating func respond(
        _ transaction: ServerTransaction,
        _ response: ServerResponse,
        from client: ClientID,
        at now: Instant
    ) {
        let asked = ServerLink.ClientQuery(transaction: transaction, client: client)
        guard let position = position(awaiting: asked),
            let pending = links[position.link].server.bearers[position.bearer].exchange.pending
        else { return outbox.append(.note(.answerWithoutRequest(client))) }
        resume(with: reply(to: pending, asked, response, at: position), at: position, now)
    }

    /// Returns the bearer whose pending request waits for the client to answer `asked`; `nil` if there is none.
    private mutating func position(awaiting asked: ServerLink.ClientQuery) -> BearerPosition? {
        guard let index = index(of: asked.transaction),
            let bearer = links[index].server.bearer(awaiting: asked)
        else { return nil }
        return BearerPosition(link: index, bearer: bearer)
    }

    /// Returns the index of the link of a transaction; `nil` if the link has ended.
    func index(of transaction: ServerTransaction) -> Int? {
        ConnectionHandle(wire: UInt16(truncatingIfNeeded: transaction.rawValue >> 48)).flatMap { index(of: $0) }
    }

    private mutating func reply(
        to pending: ServerLink.Pending,
        _ asked: ServerLink.ClientQuery,
        _ response: ServerResponse,
        at position: BearerPosition
    ) -> Reply {
        switch (pending.answer, response) {
        case (_, .failure(let code)): return .refuse(pending.handle, code)
        case (.reading(_, let reading), .success(let value)):
            return reply(
                with: [UInt8](value.prefix(configuration.limits.attributeLength)),
                for: reading,
                pending,
                at: position
            )
        case (.writing, .success): return .respond(.writeResponse)
        case (.executing(var execution), .success):
            execution.asked.removeAll { $0 == asked }
            guard execution.asked.isEmpty else {
                var pending = pending
                pending.answer = .executing(execution)
                return .wait(pending)
            }
            return .respond(.executeWriteResponse, then: .store(execution.values))
        }
    }

    private mutating func reply(
        with value: [UInt8],
        for reading: ServerLink.Reading,
        _ pending: ServerLink.Pending,
        at position: BearerPosition
    ) -> Reply {
        let mtu = self.mtu(at: position)
        switch reading {
        case .value: return .respond(.readResponse(.init(value: [UInt8](value.prefix(mtu - 1)))))
        case .part: return .respond(.readBlobResponse(.init(part: [UInt8](value.prefix(mtu - 1)))))
        case .list:
            var entries = ATT.ReadByTypeResponse.Entries()
            entries.append(pending.handle, value, mtu: mtu)
            return .respond(.readByTypeResponse(.init(entries: entries)))
        case .several(let values, let rest):
            return readSeveral(rest, after: values + [value], for: pending.request, at: position)
        }
    }
}

extension ServerLink.Pending {
    /// Returns whether the response waits for an answer from `client`.
    func awaits(_ client: ClientID) -> Bool {
        switch answer {
        case .reading(let only, _), .writing(let only): only.client == client
        case .executing(let execution): execution.asked.contains { $0.client == client }
        }
    }

    /// Returns whether the response waits for the answer to `asked`.
    func awaits(_ asked: ServerLink.ClientQuery) -> Bool {
        switch answer {
        case .reading(let only, _), .writing(let only): only == asked
        case .executing(let execution): execution.asked.contains(asked)
        }
    }
}
