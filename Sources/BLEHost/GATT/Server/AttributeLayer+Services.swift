package import BLEWire

extension AttributeLayer {
    /// Carries out a request of a client, which belongs to `app`, about its published attributes.
    package mutating func perform(
        _ request: ServiceRequest,
        for client: ClientID,
        of app: ClientOwner = .program,
        at now: Instant
    ) {
        switch request {
        case .addService(let definition):
            let result = database.add(definition, for: client, of: app, limits: configuration.limits)
            switch result {
            case .success(let range):
                outbox.report(to: client, .server(.serviceAdded(definition.id, nil)))
                databaseChanged(in: [range], at: now)
            case .failure(let failure): outbox.report(to: client, .server(.serviceAdded(definition.id, failure)))
            }
        case .removeService(let id):
            let owner = GATTDatabase.Owner(client: client, id: id)
            removeServices(at: now) { $0.owner == owner }
        case .removeAllServices: removeServices(at: now) { $0.owner?.client == client }
        case .respond(let transaction, let response): respond(transaction, response, from: client, at: now)
        case .update(let id, let value, let centrals): update(id, value, to: centrals, for: client, at: now)
        case .reportConfirmations(let id): reportConfirmations(of: GATTDatabase.Owner(client: client, id: id))
        }
    }

    /// Removes a client.
    ///
    /// The client is detached from all peers, so its requests fail. Its services are removed, so peers' requests that
    /// wait for it fail.
    package mutating func clientClosed(_ client: ClientID, at now: Instant) {
        for index in links.indices {
            links[index].client.detach(client, at: now, into: &outbox)
            links[index].server.clients.remove(client)
        }
        updates.remove(client)
        removeServices(at: now) { $0.owner?.client == client }
    }

    /// Records that a client's app has ended.
    ///
    /// The client's own requests fail, and so do peers' requests that wait for the client.
    package mutating func appEnded(_ client: ClientID, at now: Instant) {
        for index in links.indices { links[index].client.appEnded(client, at: now, into: &outbox) }
        updates.remove(client)
        for position in positions {
            guard let pending = links[position.link].server.bearers[position.bearer].exchange.pending,
                pending.awaits(client)
            else { continue }
            resume(with: .refuse(pending.handle, .unlikelyError), at: position, now)
        }
    }

    /// Removes the clients' services after the radio was switched off.
    package mutating func reset(at now: Instant) {
        removeServices(at: now) { $0.owner != nil }
    }

    /// The current Database Hash of the local database.
    package var databaseHash: UInt128 { database.hash }

    private mutating func removeServices(
        at now: Instant,
        where isUnwanted: (GATTDatabase.Service) -> Bool
    ) {
        let unwanted = database.services.filter(isUnwanted).map(\.range)
        for range in unwanted {
            for index in links.indices { unsubscribe(from: range, at: index) }
        }
        let removed = database.removeServices(where: isUnwanted)
        reportedConfirmations.removeAll { !database.isTaken($0) }
        databaseChanged(in: removed, at: now)
        refuseRequests(for: removed, at: now)
        if links.isEmpty { database.releaseHandles() }
    }

    /// Ends the peer's subscriptions to characteristics in `range`, and informs the clients that provide them.
    mutating func unsubscribe(from range: AttributeHandleRange, at index: Int) {
        for handle in links[index].server.configurations.active where range.contains(handle) {
            configure(handle, 0, at: index)
            guard case .configuration(let about)? = database.attribute(at: handle)?.content else { continue }
            dropUnwanted(of: about.value, configuration: 0, at: index)
            links[index].server.forgetRoute(of: about.value)
            guard let owner = about.owner else { continue }
            outbox.report(to: owner.client, .server(.unsubscribed(links[index].remote, from: owner.id)))
        }
    }
}

extension GATTDatabase {
    /// The handle of the local Service Changed characteristic's value; `nil` if there is none.
    var serviceChanged: AttributeHandle? {
        services.first { $0.uuid == GATT.genericAttribute && $0.owner == nil }.flatMap { service in
            attributes(in: service.range).first { $0.type == GATT.serviceChanged }?.handle
        }
    }

    /// The clients that have published services, in the order of their first service.
    var clients: [ClientID] {
        var clients: [ClientID] = []
        for service in services {
            if let client = service.owner?.client, !clients.contains(client) { clients.append(client) }
        }
        return clients
    }
}
