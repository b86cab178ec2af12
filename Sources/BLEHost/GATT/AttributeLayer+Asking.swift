import BLEWire

extension AttributeLayer {
    /// Asks the client that has a value for it.
    mutating func ask(
        _ owner: GATTDatabase.Owner,
        offset: Int,
        of handle: AttributeHandle,
        for request: ATT.Opcode,
        _ reading: ServerLink.Reading,
        at place: Place
    ) -> Reply {
        let transaction = makeTransaction()
        let event = ServerEvent.readRequested(transaction, links[place.link].remote, owner.id, offset: offset)
        outbox.tell(owner.client, of: .server(event))
        let asked = ServerLink.Asked(transaction: transaction, client: owner.client)
        return .wait(.init(request: request, handle: handle, answer: .reading(asked, for: reading)))
    }

    /// Asks a client whether it takes these writes, all of them or none.
    mutating func askToWrite(_ parts: [WritePart], client: ClientID, at place: Place) -> ServerLink.Asked {
        let transaction = makeTransaction()
        outbox.tell(client, of: .server(.writeRequested(transaction, links[place.link].remote, WriteGroup(parts))))
        return ServerLink.Asked(transaction: transaction, client: client)
    }

    mutating func makeTransaction() -> ServerTransaction {
        lastTransaction += 1
        return ServerTransaction(rawValue: lastTransaction)
    }

    /// Takes the answer of a client to what it was asked.
    mutating func respond(
        _ transaction: ServerTransaction,
        _ response: ServerResponse,
        from client: ClientID,
        at now: Instant
    ) {
        let asked = ServerLink.Asked(transaction: transaction, client: client)
        guard let place = place(awaiting: asked),
            let pending = links[place.link].server.bearers[place.bearer].exchange.pending
        else { return outbox.append(.note(.lateResponse(client))) }
        resume(with: reply(to: pending, asked, response, at: place), at: place, now)
    }

    /// Where an answer waits for what comes of this question.
    private mutating func place(awaiting asked: ServerLink.Asked) -> Place? {
        for index in links.indices {
            if let bearer = links[index].server.bearer(awaiting: asked) { return Place(link: index, bearer: bearer) }
        }
        return nil
    }

    private mutating func reply(
        to pending: ServerLink.Pending,
        _ asked: ServerLink.Asked,
        _ response: ServerResponse,
        at place: Place
    ) -> Reply {
        switch (pending.answer, response) {
        case (_, .failure(let code)): return .refuse(pending.handle, code)
        case (.reading(_, let reading), .success(let value)):
            return reply(
                with: [UInt8](value.prefix(configuration.limits.attributeLength)),
                for: reading,
                pending,
                at: place
            )
        case (.writing, .success): return .respond(.writeResponse)
        case (.executing(var execution), .success):
            execution.asked.removeAll { $0 == asked }
            guard execution.asked.isEmpty else {
                var pending = pending
                pending.answer = .executing(execution)
                return .wait(pending)
            }
            return .respond(.executeWriteResponse, then: .keep(execution.values))
        }
    }

    private mutating func reply(
        with value: [UInt8],
        for reading: ServerLink.Reading,
        _ pending: ServerLink.Pending,
        at place: Place
    ) -> Reply {
        let mtu = self.mtu(at: place)
        switch reading {
        case .value: return .respond(.readResponse(.init(value: [UInt8](value.prefix(mtu - 1)))))
        case .part: return .respond(.readBlobResponse(.init(part: [UInt8](value.prefix(mtu - 1)))))
        case .list:
            let room = min(mtu - 4, ATT.ReadByTypeResponse.maximumValueLength)
            let entry = ATT.ReadByTypeResponse.Entry(handle: pending.handle, value: [UInt8](value.prefix(room)))
            return .respond(.readByTypeResponse(.init(entries: [entry])))
        case .several(let values, let rest):
            return readSeveral(rest, after: values + [value], for: pending.request, at: place)
        }
    }
}

extension ServerLink.Pending {
    /// Whether the answer waits for this client.
    func awaits(_ client: ClientID) -> Bool {
        switch answer {
        case .reading(let only, _), .writing(let only): only.client == client
        case .executing(let execution): execution.asked.contains { $0.client == client }
        }
    }

    /// Whether this question is among those that the answer waits for.
    func awaits(_ asked: ServerLink.Asked) -> Bool {
        switch answer {
        case .reading(let only, _), .writing(let only): only == asked
        case .executing(let execution): execution.asked.contains(asked)
        }
    }
}
