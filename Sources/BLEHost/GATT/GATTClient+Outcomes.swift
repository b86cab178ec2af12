import BLEWire

extension GATTClient {
    /// Tells whoever waits what came of a procedure, and keeps what the host needs of it.
    mutating func finish(
        _ finished: Running,
        with outcome: Procedure.Outcome,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        if case .configured(let outcome, let handle) = outcome {
            return configured(outcome, of: handle, for: finished, into: &outbox)
        }
        switch finished.owner {
        case .client(let client):
            if case .services(.success(let found)) = outcome { keep(found, into: &outbox) }
            if let event = event(for: outcome) { outbox.tell(client, of: .peer(peer, event)) }
        case .host: finishChore(with: outcome, at: now, into: &outbox)
        case .nobody: break
        }
    }

    private func event(for outcome: Procedure.Outcome) -> PeerEvent? {
        switch outcome {
        case .services(let result): .servicesDiscovered(result)
        case .includedServices(let result, let range):
            .includedServicesDiscovered(in: range, result.map { classified($0) })
        case .characteristics(let result, let range): .characteristicsDiscovered(in: range, result)
        case .descriptors(let result, let handle): .descriptorsDiscovered(of: handle, result)
        case .read(let result, let handle): .valueRead(handle, result)
        case .written(let failure, let handle): .valueWritten(handle, failure)
        case .mtu, .configured, .name, .watching: nil
        }
    }

    /// Included services, with what discovery said of them: a declaration of an include does not tell their kind.
    private func classified(_ found: [DiscoveredService]) -> [DiscoveredService] {
        var found = found
        for index in found.indices {
            let start = found[index].range.start
            found[index].isPrimary = services.contains { $0.range.start == start }
        }
        return found
    }

    private mutating func keep(_ found: [DiscoveredService], into outbox: inout Outbox) {
        for service in found where !services.contains(service) {
            services.removeAll { $0.range.overlaps(service.range) }
            let index = services.firstIndex { service.range.start < $0.range.start } ?? services.endIndex
            services.insert(service, at: index)
        }
        outbox.append(.servicesKnown(peer, services.map(\.uuid)))
        watchServices()
    }

    private mutating func finishChore(
        with outcome: Procedure.Outcome,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch outcome {
        case .mtu(let serverMTU): settle(negotiation.receiveAnswer(serverMTU: serverMTU), at: now, into: &outbox)
        case .name(.success(let name)) where !name.isEmpty:
            outbox.append(.nameRead(peer, name))
            tellAll(.nameChanged(name), through: &outbox)
        case .watching(let handle): serviceChanged = handle
        case .name, .services, .includedServices, .characteristics, .descriptors, .read, .written, .configured: break
        }
    }

    /// Tells what has become of the size of packets.
    mutating func settle(_ event: MTUNegotiation.OnEvent, at now: Instant, into outbox: inout Outbox) {
        switch event {
        case .nothing: break
        case .settled:
            choresBegin = now + Self.courtesy
            outbox.append(.mtuSettled(link, mtu))
        case .changed: tellAll(.mtuChanged(mtu), through: &outbox)
        }
    }

    private mutating func configured(
        _ outcome: ConfigurationWriting.Outcome,
        of handle: AttributeHandle,
        for finished: Running,
        into outbox: inout Outbox
    ) {
        subscriptions.note(
            configuration: outcome.configuration,
            told: outcome.failure == nil ? outcome.bits : nil,
            of: handle
        )
        switch finished.owner {
        case .client(let client):
            let (earlier, wanted) = finished.subscription
            let now = outcome.failure == nil ? wanted : earlier
            subscriptions.set(now, for: client, to: handle)
            outbox.tell(client, of: .peer(peer, .subscriptionChanged(handle, now, outcome.failure)))
        case .host: break
        case .nobody: if subscriptions.change(of: handle) != nil { chores.append(.reconfigure(handle)) }
        }
    }

    /// Answers for a procedure that will not end by itself.
    mutating func fail(_ current: Running, with failure: Failure, into outbox: inout Outbox) {
        guard case .client(let client) = current.owner else { return }
        let event: PeerEvent
        switch current.procedure {
        case .services: event = .servicesDiscovered(.failure(failure))
        case .includedServices(_, let range): event = .includedServicesDiscovered(in: range, .failure(failure))
        case .characteristics(_, let range): event = .characteristicsDiscovered(in: range, .failure(failure))
        case .descriptors(_, let handle): event = .descriptorsDiscovered(of: handle, .failure(failure))
        case .read(_, let handle): event = .valueRead(handle, .failure(failure))
        case .write(_, let handle): event = .valueWritten(handle, failure)
        case .configure(_, let handle):
            subscriptions.set(current.subscription.earlier, for: client, to: handle)
            event = .subscriptionChanged(handle, current.subscription.earlier, failure)
        case .exchangeMTU, .name, .watch: preconditionFailure("clients do not ask for this")
        }
        outbox.tell(client, of: .peer(peer, event))
    }
}
