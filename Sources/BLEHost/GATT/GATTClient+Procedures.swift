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
        case .discoverServices(let types): procedure = .services(ServiceDiscovery(only: types.map(\.attributeForm)))
        case .discoverIncludedServices(let range, let types):
            procedure = .includedServices(IncludedServiceDiscovery(in: range, only: types), in: range)
        case .discoverCharacteristics(let range, let types):
            procedure = .characteristics(CharacteristicDiscovery(in: range, only: types), in: range)
        case .discoverDescriptors(let handle, let range):
            procedure = .descriptors(DescriptorDiscovery(in: range), of: handle)
        case .read(let handle): procedure = .read(ValueReading(handle), handle)
        case .write(let handle, let value): procedure = .write(ValueWriting(value, to: handle), handle)
        case .subscribe(let subscription, let handle, let range):
            return subscribe(client, to: handle, in: range, subscription, at: now, into: &outbox)
        }
        start(Running(owner: .client(client), procedure: procedure), at: now, into: &outbox)
    }

    /// Begins what the host wants for itself.
    mutating func begin(_ chore: Chore, at now: Instant, into outbox: inout Outbox) {
        switch chore {
        case .exchangeMTU:
            start(Running(owner: .host, procedure: .exchangeMTU(offer: negotiation.request)), at: now, into: &outbox)
        case .readName: start(Running(owner: .host, procedure: .name(NameReading())), at: now, into: &outbox)
        case .watchServices:
            let service = services.first { $0.uuid == GATT.genericAttribute }
            let watch = ServiceChangedWatch(in: service?.range)
            start(Running(owner: .host, procedure: .watch(watch)), at: now, into: &outbox)
        case .reconfigure(let handle):
            guard let change = subscriptions.change(of: handle) else { return }
            start(
                Running(owner: .host, procedure: .configure(ConfigurationWriting(change), of: handle)),
                at: now,
                into: &outbox
            )
        }
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
                procedure: .configure(ConfigurationWriting(change), of: handle),
                subscription: (earlier, subscription)
            ),
            at: now,
            into: &outbox
        )
    }

    private mutating func start(_ procedure: Running, at now: Instant, into outbox: inout Outbox) {
        var procedure = procedure
        let step = procedure.procedure.begin(mtu: mtu)
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
            bearer.begin(packet.opcode, at: now)
            outbox.append(.send(packet.encoded, on: link, receipt: nil))
        case .finished(let outcome):
            guard let finished = running else { return }
            running = nil
            finish(finished, with: outcome, at: now, into: &outbox)
        }
    }

    /// Takes what the bearer made of a packet.
    mutating func take(_ event: ATTClientBearer.OnReceive, at now: Instant, into outbox: inout Outbox) {
        switch event {
        case .ignored: outbox.append(.note(.lateAnswer(.attribute, link)))
        case .answered(let answer):
            guard var current = running else { return }
            if current.owner == .nobody, !current.procedure.mustGoOn {
                running = nil
            } else {
                let step = current.procedure.receive(answer, mtu: mtu)
                running = current
                take(step, at: now, into: &outbox)
            }
            proceed(at: now, into: &outbox)
        }
    }
}
