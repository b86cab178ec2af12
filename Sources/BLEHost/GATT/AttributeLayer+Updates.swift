package import BLEWire

extension AttributeLayer {
    /// Notifies or indicates a value to those centrals that subscribed, of the given ones or of all.
    ///
    /// A notification goes out at once, an indication when the central has confirmed the one before.
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
            for index in links.indices where centrals?.contains(links[index].peer) ?? true {
                let bits = links[index].server.configurations[configuration]
                guard bits != 0, links[index].server.takes(about.properties) else { continue }
                updates.expect(number)
                if bits & Subscription.notifications.rawValue != 0 {
                    if waits(value, of: about.value, number, at: index) { continue }
                    notify(value, of: about.value, number, at: index)
                } else {
                    submit(.value(about.value, value, update: number), at: index, now)
                }
            }
        }
        tellOfUpdates(to: client)
    }

    mutating func notify(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ number: UpdateLedger.Number?,
        at index: Int
    ) {
        let value = [UInt8](value.prefix(links[index].mtu - 3))
        send(.notification(.init(handle: handle, value: value)), number, at: index)
    }

    private mutating func send(_ packet: ATTPacket, _ number: UpdateLedger.Number?, at index: Int) {
        guard let number else { return send(packet, at: index) }
        let receipt = outbox.makeReceipt(for: links[index].handle)
        links[index].server.updates.append(.init(receipt: receipt, number: number))
        outbox.append(.send(packet.encoded, on: links[index].handle, receipt: receipt))
    }

    /// Has something indicated when it is its turn.
    mutating func submit(_ item: IndicationQueue.Item, at index: Int, _ now: Instant) {
        switch links[index].server.indications.submit(item, at: now) {
        case .send: send(item, at: index)
        case .wait: break
        case .refuse:
            outbox.append(.note(.limitReached(.queuedIndications(links[index].handle))))
            if let number = item.update { updates.settle(number) }
        }
    }

    private mutating func send(_ item: IndicationQueue.Item, at index: Int) {
        send(item.packet(mtu: links[index].mtu), item.update, at: index)
    }

    /// Takes a confirmation.
    mutating func confirm(at index: Int, _ now: Instant) {
        switch links[index].server.indications.confirm(at: now) {
        case .ignored: outbox.append(.note(.lateAnswer(.attribute, links[index].handle)))
        case .confirmed(let item, let next):
            outbox.append(.confirmed(links[index].handle, item.handle))
            if let next { send(next, at: index) }
            if case .serviceChanged = item { confirmedChange(at: index) }
        }
    }

    /// Notes that the controller has taken this packet, and with it all that were handed down before.
    mutating func sentUpdates(upTo receipt: SendReceipt, at index: Int) {
        while let update = links[index].server.updates.first, update.receipt <= receipt {
            _ = links[index].server.updates.popFirst()
            settle(update.number)
        }
        if links[index].server.updates.isEmpty, !links[index].server.ready.isEmpty { notifyReady(at: index) }
    }

    /// Counts everything as sent that the link has not sent: it is about to go.
    mutating func settleUpdates(at index: Int) {
        while let update = links[index].server.updates.popFirst() { settle(update.number) }
        dropWaiting(at: index)
    }

    /// Counts the values as sent that wait to be notified or indicated.
    mutating func dropWaiting(at index: Int) {
        for value in links[index].server.ready { settle(value.number) }
        links[index].server.ready = []
        for item in links[index].server.indications.removeValues() { if let number = item.update { settle(number) } }
    }

    mutating func settle(_ number: UpdateLedger.Number) {
        guard let client = updates.client(of: number) else { return }
        updates.settle(number)
        tellOfUpdates(to: client)
    }

    /// Whether values wait to be notified or indicated to the peer of a link.
    package func holdsValues(of link: ConnectionHandle) -> Bool {
        guard let index = index(of: link) else { return false }
        return !links[index].server.ready.isEmpty || links[index].server.indications.holdsValues
    }

    private mutating func tellOfUpdates(to client: ClientID) {
        let count = updates.collect(for: client)
        if count > 0 { outbox.tell(client, of: .server(.updatesTaken(count))) }
    }
}

extension IndicationQueue.Item {
    /// The attribute whose value is indicated.
    package var handle: AttributeHandle {
        switch self {
        case .value(let handle, _, _), .serviceChanged(let handle, _): handle
        }
    }

    /// The update that it is part of.
    package var update: UpdateLedger.Number? {
        switch self {
        case .value(_, _, let number): number
        case .serviceChanged: nil
        }
    }
}
