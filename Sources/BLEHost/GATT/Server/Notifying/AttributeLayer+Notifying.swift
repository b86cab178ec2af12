package import BLEWire

extension AttributeLayer {
    /// Sends a value to subscribed centrals as notifications or indications: to those in `centrals`, or to all if
    /// `centrals` is `nil`.
    ///
    /// A notification is sent immediately, unless values are being gathered or the client has too many unsent values.
    /// An indication is sent when the previous one has been confirmed.
    mutating func update(
        _ id: LocalAttributeID,
        _ value: [UInt8],
        to centrals: [PeerIdentifier]?,
        for client: ClientID,
        at now: Instant
    ) {
        let number = updates.begin(for: client)
        let owner = GATTDatabase.Owner(client: client, id: id)
        if let (configuration, about) = database.configuration(of: owner) {
            for index in links.indices {
                let bits = links[index].configured(about, at: configuration)
                guard bits != 0, links[index].isAmong(centrals) else { continue }
                updates.expect(number)
                let position = position(forValuesOf: about.value, at: index)
                if bits & Subscription.notifications.rawValue != 0 {
                    let value = OutgoingUpdates.Value(handle: about.value, value: value, number: number)
                    if !hold(value, at: position) { gatherOrNotify(value, at: position) }
                } else {
                    submit(.value(about.value, value, update: number), at: position, now)
                }
            }
        }
        reportUpdates(to: client)
    }

    /// Queues a value if its client has too many unsent values on the bearer.
    ///
    /// If too many are queued already, the value is dropped, with a note, and counts as sent.
    ///
    /// - Returns: `false` if the caller has to send the value.
    mutating func hold(_ value: OutgoingUpdates.Value, at position: BearerPosition) -> Bool {
        switch links[position.link].server.bearers[position.bearer].updates.hold(value) {
        case .send: return false
        case .wait: break
        case .refuse:
            outbox.append(.note(.limitReached(.queuedValues(links[position.link].handle))))
            updates.sent(value.number)
        }
        return true
    }

    private mutating func gatherOrNotify(_ value: OutgoingUpdates.Value, at position: BearerPosition) {
        if gatherIfPossible(value, at: position) { return }
        notify(value.value, of: value.handle, value.number, at: position)
    }

    mutating func notify(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ number: UnsentUpdates.Number?,
        at position: BearerPosition
    ) {
        let value = [UInt8](value.prefix(ATT.roomForValue(mtu: mtu(at: position))))
        send(.notification(.init(handle: handle, value: value)), number, at: position)
    }

    private mutating func send(_ packet: ATTPacket, _ number: UnsentUpdates.Number?, at position: BearerPosition) {
        guard let number else { return send(packet, at: position) }
        let receipt = outbox.makeReceipt(for: links[position.link].handle)
        links[position.link].server.bearers[position.bearer].updates.noteSent(number, as: receipt)
        outbox.send(
            packet,
            on: links[position.link].server.bearers[position.bearer].id,
            of: links[position.link].handle,
            receipt: receipt
        )
    }

    /// Sends an indication, or queues it until the previous one has been confirmed.
    mutating func submit(_ item: IndicationQueue.Item, at position: BearerPosition, _ now: Instant) {
        switch links[position.link].server.bearers[position.bearer].indications.submit(item, at: now) {
        case .send: send(item, at: position)
        case .wait: break
        case .refuse:
            outbox.append(.note(.limitReached(.queuedIndications(links[position.link].handle))))
            if let number = item.update { updates.sent(number) }
        }
    }

    private mutating func send(_ item: IndicationQueue.Item, at position: BearerPosition) {
        send(item.packet(mtu: mtu(at: position)), item.update, at: position)
    }

    /// Processes the peer's confirmation of an indication, and sends the next one.
    mutating func confirm(at position: BearerPosition, _ now: Instant) {
        switch links[position.link].server.bearers[position.bearer].indications.confirm(at: now) {
        case .ignored: outbox.append(.note(.unexpectedResponse(.attribute, links[position.link].handle)))
        case .confirmed(let item, let next):
            outbox.append(.confirmed(links[position.link].handle, item.handle))
            reportConfirmation(of: item, at: position.link)
            if let next { send(next, at: position) }
            if case .serviceChanged = item { confirmedChange(at: position.link) }
        }
    }

    /// Records that a client wants to be informed of confirmed indications of its value.
    mutating func reportConfirmations(of owner: GATTDatabase.Owner) {
        guard database.configuration(of: owner) != nil, !reportedConfirmations.contains(owner) else { return }
        reportedConfirmations.append(owner)
    }

    private mutating func reportConfirmation(of item: IndicationQueue.Item, at index: Int) {
        guard !reportedConfirmations.isEmpty, case .value(let handle, _, _) = item,
            let owner = database.configuration(of: handle)?.about.owner, reportedConfirmations.contains(owner)
        else { return }
        outbox.report(to: owner.client, .server(.confirmed(links[index].remote, of: owner.id)))
    }

    /// Closes a bearer on which an indication was not confirmed in time.
    mutating func expireIndication(at position: BearerPosition, _ now: Instant) {
        switch links[position.link].server.bearers[position.bearer].indications.expire(at: now) {
        case .nothing: break
        case .abandon:
            outbox.append(.note(.transactionTimedOut(links[position.link].handle)))
            countUpdatesAsSent(at: position)
            closeBearer(at: position, at: now)
        }
    }

    /// Records that the controller has accepted the packet with this receipt and all earlier ones.
    mutating func sentUpdates(upTo receipt: SendReceipt, at position: BearerPosition) {
        while let number = links[position.link].server.bearers[position.bearer].updates.nextTaken(upTo: receipt) {
            updateSent(number)
        }
        notify(links[position.link].server.bearers[position.bearer].updates.removeValuesIfIdle(), at: position)
        while let value = links[position.link].server.bearers[position.bearer].updates.nextHeld() {
            gatherOrNotify(value, at: position)
        }
    }

    /// Counts all unsent updates of a link as sent, because it is about to end.
    mutating func countUpdatesAsSent(at index: Int) {
        for position in positions(at: index) { countUpdatesAsSent(at: position) }
    }

    /// Counts all unsent updates of a bearer as sent, because it is about to be closed.
    mutating func countUpdatesAsSent(at position: BearerPosition) {
        countPacketsAsSent(at: position)
        dropWaiting(at: position)
    }

    /// Counts all pending packets of a bearer as sent, because their receipts will no longer be reported.
    mutating func countPacketsAsSent(at position: BearerPosition) {
        while let number = links[position.link].server.bearers[position.bearer].updates.removeFirstSent() {
            updateSent(number)
        }
    }

    /// Drops the queued values of a bearer, and counts them as sent.
    mutating func dropWaiting(at position: BearerPosition) {
        for value in links[position.link].server.bearers[position.bearer].updates.removeValues() {
            updateSent(value.number)
        }
        for item in links[position.link].server.bearers[position.bearer].indications.removeValues() {
            if let number = item.update { updateSent(number) }
        }
    }

    /// Drops the queued values that the peer no longer subscribes to, and counts them as sent.
    ///
    /// `bits` is the peer's new value of the Client Characteristic Configuration.
    ///
    /// Core 6.0, Vol 3, Part G, 3.3.3.3.
    mutating func dropUnwanted(of handle: AttributeHandle, configuration bits: UInt16, at index: Int) {
        for position in positions(at: index) {
            if bits & Subscription.notifications.rawValue == 0 {
                let dropped = links[position.link].server.bearers[position.bearer].updates.removeValues(of: handle)
                for value in dropped { updateSent(value.number) }
            }
            if bits & Subscription.indications.rawValue == 0 {
                let dropped = links[position.link].server.bearers[position.bearer].indications.removeValues(of: handle)
                for item in dropped { if let number = item.update { updateSent(number) } }
            }
        }
    }

    mutating func updateSent(_ number: UnsentUpdates.Number) {
        guard let client = updates.client(of: number) else { return }
        updates.sent(number)
        reportUpdates(to: client)
    }

    /// Returns whether values are queued for the peer of a link.
    package func holdsValues(of link: ConnectionHandle) -> Bool {
        guard let index = index(of: link) else { return false }
        return links[index].server.bearers.contains { $0.updates.holdsValues || $0.indications.holdsValues }
    }

    private mutating func reportUpdates(to client: ClientID) {
        let count = updates.collect(for: client)
        if count > 0 { outbox.report(to: client, .server(.updatesTaken(count))) }
    }
}

extension IndicationQueue.Item {
    /// The handle of the indicated value.
    package var handle: AttributeHandle {
        switch self {
        case .value(let handle, _, _), .serviceChanged(let handle, _): handle
        }
    }

    /// The update that the indication belongs to; `nil` if it belongs to none.
    package var update: UnsentUpdates.Number? {
        switch self {
        case .value(_, _, let number): number
        case .serviceChanged: nil
        }
    }
}
