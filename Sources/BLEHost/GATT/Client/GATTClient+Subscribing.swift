import BLEWire

extension GATTClient {
    /// Creates the procedure that writes the Client Characteristic Configuration for the value at `handle`.
    func configuration(_ change: Subscriptions.Change, of handle: AttributeHandle) -> ConfigurationWriting {
        ConfigurationWriting(change.bits, to: place(of: change, for: handle))
    }

    /// Returns the location of the Client Characteristic Configuration for the value at `handle`, as far as it is
    /// known.
    ///
    /// If a characteristic that can notify or indicate has only one descriptor, that descriptor is the Client
    /// Characteristic Configuration.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.1.1.
    private func place(of change: Subscriptions.Change, for handle: AttributeHandle) -> ConfigurationWriting.Place {
        if let known = change.configuration { return .known(known) }
        guard let descriptors = change.descriptors else { return .searched(nil) }
        if let known = database.attributes.first(GATT.clientConfiguration, in: descriptors) { return .known(known) }
        guard descriptors.count == 1, database.attributes.canUpdate(handle) else { return .searched(descriptors) }
        return database.missing(.types, in: descriptors) == nil ? .searched(descriptors) : .only(descriptors.start)
    }

    /// Changes a client's subscription to the value at `handle`, and writes the Client Characteristic Configuration if
    /// necessary.
    ///
    /// `range` contains the descriptors of the characteristic; `nil` if there are none.
    ///
    /// A new subscriber receives values immediately, even before the descriptor has been written.
    mutating func subscribe(
        _ requester: Requester,
        to handle: AttributeHandle,
        in range: AttributeHandleRange?,
        _ subscription: Subscription,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        reportedChanges.clear()
        let client = requester.client
        let earlier = subscriptions.subscription(of: client, to: handle)
        guard let change = subscriptions.change(for: client, to: subscription, of: handle, in: range) else {
            subscriptions.set(subscription, for: client, to: handle)
            return deliver(to: requester, .subscriptionChanged(handle, subscription, nil), into: &outbox)
        }
        if subscription != .none { subscriptions.set(subscription, for: client, to: handle) }
        let procedure = ClientProcedure(
            .configure(configuration(change, of: handle), of: handle),
            for: .client(requester),
            order: answers.next(),
            subscription: (earlier, subscription)
        )
        start(procedure, on: 0, at: now, into: &outbox)
    }

    /// Processes the result of writing a Client Characteristic Configuration, and reports it to the client.
    mutating func configured(
        _ outcome: ConfigurationWriting.Outcome,
        of handle: AttributeHandle,
        for finished: ClientProcedure,
        into outbox: inout Outbox
    ) {
        subscriptions.note(
            configuration: outcome.configuration,
            written: outcome.failure == nil ? outcome.bits : nil,
            of: handle
        )
        switch finished.owner {
        case .client(let requester):
            let (earlier, wanted) = finished.subscription
            let now = outcome.failure == nil ? wanted : earlier
            subscriptions.set(now, for: requester.client, to: handle)
            deliver(to: requester, .subscriptionChanged(handle, now, outcome.failure), into: &outbox)
        case .host, .recovery: break
        case .noClient: if subscriptions.change(of: handle) != nil { ownRequests.append(.reconfigure(handle)) }
        }
    }

    /// Restores and returns the previous subscription of `client`, after the Client Characteristic Configuration could
    /// not be written.
    mutating func resubscribe(
        _ client: ClientID,
        to handle: AttributeHandle,
        after failed: ClientProcedure
    ) -> Subscription {
        subscriptions.set(failed.subscription.earlier, for: client, to: handle)
        return failed.subscription.earlier
    }

    /// Removes all subscriptions of `client`.
    ///
    /// If the remaining subscriptions to a value need another Client Characteristic Configuration, the host writes it
    /// when the link is idle.
    mutating func unsubscribe(_ client: ClientID) {
        for handle in subscriptions.remove(client) { ownRequests.append(.reconfigure(handle)) }
    }
}
