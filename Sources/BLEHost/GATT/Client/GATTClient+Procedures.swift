import BLEWire

extension GATTClient {
    /// Begins what a client asked for, unless it can be answered without the peer.
    mutating func begin(
        _ request: PeerRequest,
        for client: ClientID,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        let procedure: Procedure
        switch request {
        case .readRSSI, .tune, .writeCommand, .openChannel: preconditionFailure("\(request) needs no turn")
        case .discoverServices(let types): procedure = lookup(.services(only: types.map(\.attributeForm)))
        case .discoverIncludedServices(let range, let types): procedure = lookup(.includes(in: range, only: types))
        case .discoverCharacteristics(let range, let types):
            procedure = lookup(.characteristics(in: range, only: types))
        case .discoverDescriptors(let handle, let range): procedure = lookup(.descriptors(of: handle, in: range))
        case .read(let handle): procedure = .read(ValueReading(handle), handle)
        case .write(let handle, let value): procedure = .write(ValueWriting(value, to: handle), handle)
        case .subscribe(let subscription, let handle, let range):
            return subscribe(client, to: handle, in: range, subscription, at: now, into: &outbox)
        case .forgetDatabase: return forgetDatabase(for: client, at: now, into: &outbox)
        }
        if expiry < now { database.expire() }
        start(Running(owner: .client(client), procedure: procedure, order: nextOrder()), at: now, into: &outbox)
    }

    /// Begins what the host wants for itself.
    mutating func begin(_ chore: Chore, at now: Instant, into outbox: inout Outbox) {
        let procedure: Procedure
        switch chore {
        case .exchangeMTU:
            guard !negotiation.hasPeerAsked else { return }
            procedure = .exchangeMTU(offer: negotiation.request)
        case .checkCache, .keepCache: procedure = .databaseHash
        case .openBearers: procedure = .serverFeatures
        case .readName: procedure = .name(NameReading())
        case .watchServices:
            database.beginWatching()
            let service = database.attributes.services.first { $0.uuid == GATT.genericAttribute }
            procedure = .watch(ServiceChangedWatch(in: service?.range, limit: limits.discoveredAttributes))
        case .announceFeatures(let handle):
            procedure = .write(ValueWriting([features.rawValue], to: handle), handle)
        case .probe(let handle): procedure = .read(ValueReading(handle), handle)
        case .prove: procedure = lookup(.proof)
        case .reconfigure(let handle):
            guard let change = subscriptions.change(of: handle) else { return }
            procedure = .configure(configuration(change), of: handle)
        }
        start(Running(owner: .host, procedure: procedure), at: now, into: &outbox)
    }

    private func lookup(_ question: DatabaseLookup.Question) -> Procedure {
        .lookup(DatabaseLookup(question, limit: limits.discoveredAttributes))
    }

    /// The writing of a configuration, to where that has been found already.
    private func configuration(_ change: Subscriptions.Change) -> ConfigurationWriting {
        let known = change.descriptors.flatMap { database.attributes.first(GATT.clientConfiguration, in: $0) }
        return ConfigurationWriting(change.bits, to: change.configuration ?? known, in: change.descriptors)
    }

    /// Writes the configuration if the peer has to be told; a client hears of values from the moment at which it asks.
    private mutating func subscribe(
        _ client: ClientID,
        to handle: AttributeHandle,
        in range: AttributeHandleRange?,
        _ subscription: Subscription,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        let earlier = subscriptions.subscription(of: client, to: handle)
        guard let change = subscriptions.change(for: client, to: subscription, of: handle, in: range) else {
            subscriptions.set(subscription, for: client, to: handle)
            return outbox.tell(client, of: .peer(peer, .subscriptionChanged(handle, subscription, nil)))
        }
        if subscription != .none { subscriptions.set(subscription, for: client, to: handle) }
        start(
            Running(
                owner: .client(client),
                procedure: .configure(configuration(change), of: handle),
                order: nextOrder(),
                subscription: (earlier, subscription)
            ),
            at: now,
            into: &outbox
        )
    }

    mutating func start(_ procedure: consuming Running, at now: Instant, into outbox: inout Outbox) {
        procedure.security = security
        let step = procedure.procedure.begin(&database, mtu: mtu)
        running = procedure
        take(step, at: now, into: &outbox)
    }

    private mutating func take(
        _ step: ProcedureStep<Procedure.Outcome>,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch step {
        case .request(let packet):
            procedure?.isDisturbed = false
            bearer.begin(packet.opcode, at: now)
            outbox.send(packet, on: .unenhanced, of: link)
        case .finished(let outcome):
            guard let finished = running.take() else { return }
            conclude(finished, with: outcome, at: now, into: &outbox)
        }
    }

    /// Takes what the bearer made of a packet.
    mutating func take(_ event: ATTClientBearer.OnReceive, at now: Instant, into outbox: inout Outbox) {
        switch event {
        case .ignored: outbox.append(.note(.lateAnswer(.attribute, link)))
        case .answered(let answer):
            if case .failure(.databaseOutOfSync) = answer { outOfSync(on: .unenhanced, at: now, into: &outbox) }
            let mtu = mtu
            if let single { running = Running(single) }
            switch procedure?.receive(answer, &database, mtu: mtu) {
            case nil: return
            case .leave: procedure = nil
            case .go(let step):
                for handle in database.takeFaults() { outbox.append(.note(.implausibleAttribute(handle, link))) }
                take(step, at: now, into: &outbox)
            }
            proceed(at: now, into: &outbox)
        }
    }
}
