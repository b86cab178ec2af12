import BLEWire

// What needs no queue: a packet that is dealt with as it comes in, or a request that one packet carries out.
//
// Whatever is not as it mostly is takes the long way, to which nothing has happened then.
extension AttributeLayer {
    /// Takes what the peer's server sends.
    mutating func hearAtOnce(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        at now: Instant,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: packet.link) else { return false }
        guard packet.kind == .notification else {
            return links[index].client.answerAtOnce(packet, in: octets, at: now, into: &outbox)
        }
        return links[index].client.deliverAtOnce(packet, in: octets, into: &outbox)
    }

    /// Takes a read, a write or a value without response that is a matter of one client.
    mutating func serveAtOnce(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: packet.link), links[index].server.awareness.isAware,
            let handle = packet.attribute(in: octets)
        else { return false }
        let isRead = packet.kind == .readRequest, isCommand = packet.kind == .writeCommand
        guard isCommand || links[index].server.bearers[0].exchange.isIdle, !isRead || packet.parameterCount == 2,
            packet.parameterCount - 2 <= configuration.limits.attributeLength,
            let owner = database.holder(of: handle, for: isRead ? .read : .write, on: links[index].server.trust)
        else { return false }
        let central = RemoteCentral(peer: links[index].client.peer, mtu: links[index].client.mtu)
        guard !isCommand else {
            let part = WritePart(attribute: owner.id, value: packet.value(in: octets, droppingFirst: 2))
            outbox.append(.event(.server(.writeRequested(nil, central, WriteGroup(part))), for: owner.client))
            return true
        }
        let asked = ServerLink.Asked(transaction: makeTransaction(on: packet.link), client: owner.client)
        let request: ATT.Opcode = isRead ? .readRequest : .writeRequest
        let answer: ServerLink.Answer = isRead ? .reading(asked, for: .value) : .writing(asked)
        links[index].server.bearers[0].exchange.begin(.init(request: request, handle: handle, answer: answer))
        if isRead {
            let event = ServerEvent.readRequested(asked.transaction, central, owner.id, offset: 0)
            outbox.append(.event(.server(event), for: owner.client))
        } else {
            let part = WritePart(attribute: owner.id, value: packet.value(in: octets, droppingFirst: 2))
            let event = ServerEvent.writeRequested(asked.transaction, central, WriteGroup(part))
            outbox.append(.event(.server(event), for: owner.client))
        }
        return true
    }

    /// Sends what a client answers to a read or a write of one value.
    mutating func respondAtOnce(
        _ transaction: ServerTransaction,
        with value: [UInt8],
        from client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        let asked = ServerLink.Asked(transaction: transaction, client: client)
        guard let index = index(of: transaction),
            let response = links[index].server.bearers[0].response(to: asked)
        else { return false }
        let link = links[index].client.link, limit = links[index].client.mtu - 1
        let isRead = response == .readResponse
        let length = isRead ? min(value.count, configuration.limits.attributeLength, limit) : 0
        guard scheduler.pass(length + 1 + L2CAPHeader.size, on: .attribute, of: link) else { return false }
        _ = links[index].server.bearers[0].exchange.finish()
        outbox.send(response, nil, isRead ? value : [], limit: length, on: link)
        return true
    }

    /// Notifies a value to all who subscribed, if the controller has room for all of it.
    mutating func updateAtOnce(
        _ id: LocalAttributeID,
        _ value: [UInt8],
        for client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard updates.isEmpty, let configured = database.configuration(of: .init(client: client, id: id)) else {
            return false
        }
        let first = subscribers.first(of: configured.handle)
        var number = first, count = 0
        while let link = subscribers.link(at: number, of: configured.handle) {
            number += 1
            guard let index = index(of: link) else { continue }
            switch links[index].server.notifiesAtOnce(configured.about, at: configured.handle) {
            case .no: break
            case .later: return false
            case .yes: count += 1
            }
        }
        let length = value.count + 3 + L2CAPHeader.size, isForAll = count == number - first
        guard scheduler.hasRoom(for: count, upTo: length) else { return false }
        number = first
        while let link = subscribers.link(at: number, of: configured.handle) {
            number += 1
            guard let index = index(of: link),
                isForAll
                    || links[index].server.notifiesAtOnce(configured.about, at: configured.handle) == .yes,
                scheduler.pass(length, on: .attribute, of: link)
            else { continue }
            let limit = links[index].client.mtu - 3
            outbox.send(.handleValueNotification, configured.about.value, value, limit: limit, on: link)
        }
        outbox.tell(client, taken: .updates)
        return true
    }

    /// Sends a client's value without response.
    mutating func commandAtOnce(
        _ value: [UInt8],
        to handle: AttributeHandle,
        on link: ConnectionHandle,
        for client: ClientID,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard let index = index(of: link), links[index].client.mayCommandAtOnce(client, octets: value.count),
            scheduler.pass(value.count + 3 + L2CAPHeader.size, on: .attribute, of: link)
        else { return false }
        outbox.send(.writeCommand, handle, value, on: link)
        outbox.tell(client, taken: .writeCommands(to: links[index].client.peer))
        return true
    }

    /// Sends a client's read, or its write of a value that one packet holds.
    mutating func askAtOnce(
        _ kind: SingleRequest.Kind,
        of handle: AttributeHandle,
        on link: ConnectionHandle,
        for client: ClientID,
        at now: Instant,
        through scheduler: inout ACLScheduler,
        into outbox: inout HostOutbox
    ) -> Bool {
        let value: [UInt8], request: ATT.Opcode
        switch kind {
        case .read: (value, request) = ([], .readRequest)
        case .write(let written): (value, request) = (written, .writeRequest)
        }
        guard let index = index(of: link), links[index].client.mayAskAtOnce(client, octets: value.count),
            scheduler.pass(value.count + 3 + L2CAPHeader.size, on: .attribute, of: link)
        else { return false }
        links[index].client.beginAtOnce(kind, request, of: handle, for: client, at: now)
        outbox.send(request, handle, value, on: link)
        return true
    }
}

extension ServerLink {
    fileprivate enum NotifiesAtOnce {
        case yes, no, later
    }

    /// Whether a value that an app sends to all goes to this peer, as a notification that nothing holds up.
    fileprivate mutating func notifiesAtOnce(
        _ about: GATTDatabase.Configured,
        at configuration: AttributeHandle
    ) -> NotifiesAtOnce {
        let bits = configured(about, at: configuration)
        guard bits != 0 else { return .no }
        return bits & Subscription.notifications.rawValue != 0 && bearers.count == 1 ? .yes : .later
    }
}

extension ServerBearer {
    /// What answers the request that waits for this one question, if that is a plain read or write and nothing waits
    /// behind it.
    fileprivate mutating func response(to asked: ServerLink.Asked) -> ATT.Opcode? {
        guard exchange.isLast, let pending = exchange.pending else { return nil }
        switch pending.answer {
        case .reading(asked, .value): return .readResponse
        case .writing(asked): return .writeResponse
        case .reading, .writing, .executing: return nil
        }
    }
}

extension GATTDatabase {
    /// The client that has the value at `handle`, if the peer may read or write it.
    fileprivate func holder(
        of handle: AttributeHandle,
        for access: AttributePermissions.Access,
        on trust: LinkTrust
    ) -> Owner? {
        guard let index = index(of: handle), case .held(let owner) = attributes[index].content,
            attributes[index].permissions.refusal(of: access, on: trust) == nil
        else { return nil }
        return owner
    }
}
