import BLEWire

extension GATTClient {
    /// Starts a client's request on the bearer at `index`.
    ///
    /// A request that needs nothing from the peer is answered immediately.
    mutating func begin(
        _ request: AttributeRequest,
        for requester: Requester,
        on index: Int = 0,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        let procedure: Procedure
        switch request {
        case .discoverServices(let types): procedure = lookup(.services(only: types.map(\.attributeForm)))
        case .discoverIncludedServices(let range, let types): procedure = lookup(.includes(in: range, only: types))
        case .discoverCharacteristics(let range, let types):
            procedure = lookup(.characteristics(in: range, only: types))
        case .discoverDescriptors(let handle, let range): procedure = lookup(.descriptors(of: handle, in: range))
        case .read(let handle), .readWithoutPairing(let handle): procedure = .read(ValueReading(handle), handle)
        case .write(let handle, let value): procedure = .write(ValueWriting(value, to: handle), handle)
        case .writePart(let handle, let part, let offset):
            procedure = .write(ValueWriting(part, to: handle, at: Int(offset)), handle)
        case .writeCommand(let handle, let value): return send(value, to: handle, for: requester.client, into: &outbox)
        case .subscribe(let subscription, let handle, let range):
            return subscribe(requester, to: handle, in: range, subscription, at: now, into: &outbox)
        case .forgetDatabase: return forgetDatabase(for: requester, at: now, into: &outbox)
        }
        expireDatabase(at: now)
        var started = ClientProcedure(procedure, for: .client(requester), order: answers.next())
        if case .readWithoutPairing = request { started.raisesSecurity = false }
        start(started, on: index, at: now, into: &outbox)
    }

    /// Starts one of the host's own requests.
    mutating func begin(_ request: OwnRequest, at now: Instant, into outbox: inout Outbox) {
        let procedure: Procedure
        switch request {
        case .exchangeMTU:
            guard !negotiation.hasPeerAsked else { return }
            procedure = .exchangeMTU(offer: negotiation.request)
        case .checkCache, .storeCache: procedure = .databaseHash
        case .openBearers: procedure = .serverFeatures
        case .readName: procedure = .name(NameReading())
        case .watchServices:
            database.beginWatching()
            let service = database.attributes.services.first { $0.uuid == GATT.genericAttribute }
            procedure = .watch(ServiceChangedSubscription(in: service?.range, limit: limits.discoveredAttributes))
        case .announceFeatures(let handle):
            procedure = .write(ValueWriting([features.rawValue], to: handle), handle)
        case .probe(let handle): procedure = .read(ValueReading(handle), handle)
        case .verify: procedure = lookup(.verification)
        case .reconfigure(let handle):
            guard let change = subscriptions.change(of: handle) else { return }
            procedure = .configure(configuration(change, of: handle), of: handle)
        }
        start(ClientProcedure(procedure, for: .host), on: 0, at: now, into: &outbox)
    }

    private func lookup(_ question: AttributeDiscovery.Question) -> Procedure {
        .lookup(AttributeDiscovery(question, limit: limits.discoveredAttributes))
    }

    /// Starts a procedure on the bearer at `index`, which must be free.
    mutating func start(
        _ procedure: consuming ClientProcedure,
        on index: Int,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        procedure.security = trust.security
        let step = bearers.all[index].begin(procedure, &database, mtu: mtu(at: index))
        proceed(with: step, on: index, at: now, into: &outbox)
    }

    private mutating func proceed(
        with step: ProcedureStep<Procedure.Outcome>,
        on index: Int,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch step {
        case .request(let packet):
            bearers.all[index].ask(packet.opcode, at: now)
            outbox.send(packet, on: bearers.all[index].id, of: link)
        case .finished(let outcome):
            guard let finished = bearers.all[index].end() else { return }
            conclude(finished, with: outcome, at: now, into: &outbox)
        }
    }

    /// Passes the response in `event` to the procedure on the bearer at `index`, and then starts the requests that can
    /// start now.
    ///
    /// A response for which no request is pending only causes a note.
    mutating func proceed(
        with event: ATTClientBearer.OnReceive,
        on index: Int,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch event {
        case .ignored: outbox.append(.note(.unexpectedResponse(.attribute, link)))
        case .answered(let answer):
            if case .failure(.att(.databaseOutOfSync)) = answer { outOfSync(on: index, at: now, into: &outbox) }
            if let step = bearers.all[index].answer(answer, &database, mtu: mtu(at: index)) {
                for handle in database.takeFaults() { outbox.append(.note(.implausibleAttribute(handle, link))) }
                proceed(with: step, on: index, at: now, into: &outbox)
            }
            proceed(at: now, into: &outbox)
        }
    }
}
