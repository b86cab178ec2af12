import BLEWire

extension GATTClient {
    /// Ends a procedure, or repeats it if the peer rejected it because of insufficient security or a change of the
    /// database.
    mutating func conclude(
        _ finished: ClientProcedure,
        with outcome: Procedure.Outcome,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        if finished.owner == .recovery {
            recovered(with: outcome, at: now, into: &outbox)
        } else if finished.refusal == .outOfSync, finished.owner != .noClient {
            queueForRepetition(finished, into: &outbox)
        } else if finished.isAboutRemoved, finished.isRepeated, outcome.isOutOfSync {
            fail(finished, with: .notFound, into: &outbox)
        } else if case .client = finished.owner, finished.raisesSecurity, let code = outcome.lackOfSecurity {
            refused(finished, for: code, into: &outbox)
        } else {
            finish(finished, with: outcome, at: now, into: &outbox)
        }
    }

    /// Delivers the result of a procedure to its client, and records the information that the host itself needs from
    /// the result.
    mutating func finish(
        _ finished: ClientProcedure,
        with outcome: Procedure.Outcome,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        if case .configured(let outcome, let handle) = outcome {
            return configured(outcome, of: handle, for: finished, into: &outbox)
        }
        switch finished.owner {
        case .client(let requester):
            ownRequests.postpone(at: now)
            if case .found(let result, _) = outcome {
                reportedChanges.clear()
                if case .success(let answer) = result { noteDiscovered(answer, at: now, into: &outbox) }
            }
            if let event = event(for: outcome) { deliver(to: requester, event, order: finished.order, into: &outbox) }
        case .host, .recovery: finishOwn(finished, with: outcome, at: now, into: &outbox)
        case .noClient: break
        }
    }

    private func event(for outcome: Procedure.Outcome) -> PeerEvent? {
        switch outcome {
        case .found(.success(let answer), let question): event(for: answer, to: question)
        case .found(.failure(let failure), let question): question.event(failure)
        case .read(let result, let handle): .valueRead(handle, result)
        case .written(let failure, let handle): .valueWritten(handle, failure)
        case .mtu, .configured, .name, .watching, .databaseHash, .serverFeatures: nil
        }
    }

    private func event(for answer: AttributeDiscovery.Answer, to question: AttributeDiscovery.Question) -> PeerEvent? {
        switch (answer, question) {
        case (.services(let found), _): .servicesDiscovered(.success(found))
        case (.includes(let found), .includes(let range, _)): .includedServicesDiscovered(in: range, .success(found))
        case (.characteristics(let found), .characteristics(let range, _)):
            .characteristicsDiscovered(in: range, .success(found))
        case (.descriptors(let found), .descriptors(let handle, _)): .descriptorsDiscovered(of: handle, .success(found))
        case (.includes, _), (.characteristics, _), (.descriptors, _), (.verification, _): nil
        }
    }

    /// Reports the known primary services with ``AttributeLayer/Output/servicesKnown(_:_:)``, and asks the peer to
    /// report changes.
    mutating func knowServices(into outbox: inout Outbox) {
        outbox.append(.servicesKnown(peer, database.attributes.services.map(\.uuid)))
        watchServices()
    }

    private mutating func finishOwn(
        _ finished: ClientProcedure,
        with outcome: Procedure.Outcome,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch outcome {
        case .mtu(let serverMTU): receiveOffer(serverMTU: serverMTU, at: now, into: &outbox)
        case .name(.success(let name)) where !name.isEmpty:
            outbox.append(.nameRead(peer, name))
            reportToAll(.nameChanged(name), through: &outbox)
        case .watching(let outcome): noteServiceChangedSubscription(outcome, isOutdated: finished.isOutdated)
        case .databaseHash(let hash): hashRead(hash, isOutdated: finished.isOutdated, at: now, into: &outbox)
        case .found(let result, _): verified(result, at: now, into: &outbox)
        case .serverFeatures(let features): inquired(features, into: &outbox)
        case .name, .read, .written, .configured: break
        }
    }

    /// Delivers the result of the request with sequence number `order` once its client has all earlier results.
    ///
    /// The later results that have waited for this result are delivered after it.
    mutating func deliver(to requester: Requester, _ event: PeerEvent, order: UInt64, into outbox: inout Outbox) {
        let client = requester.client
        if answers.isEmpty, !bearers.isUnderWay(before: order, for: client) {
            return deliver(to: requester, event, into: &outbox)
        }
        answers.hold(event, for: requester, order: order)
        while let next = answers.release(to: client, unless: { bearers.isUnderWay(before: $0, for: client) }) {
            deliver(to: Requester(client, next.number), next.event, into: &outbox)
        }
    }

    /// Delivers the result of a request immediately.
    func deliver(to requester: Requester, _ event: PeerEvent, into outbox: inout Outbox) {
        outbox.report(to: requester.client, .peer(peer, event, answering: requester.number))
    }

    /// Fails all unfinished procedures of a client, or of all clients if `client` is `nil`.
    ///
    /// The procedures fail one after another, so that each client gets its results in order.
    mutating func failRunning(of client: ClientID? = nil, with failure: Failure, into outbox: inout Outbox) {
        for one in bearers.underWay(for: client) {
            bearers.withdraw(one.order, with: failure)
            fail(one, with: failure, into: &outbox)
        }
    }

    /// Fails a procedure that gets no result from the peer.
    mutating func fail(_ current: ClientProcedure, with failure: Failure, into outbox: inout Outbox) {
        guard let requester = current.requester else { return }
        let event: PeerEvent
        switch current.procedure {
        case .lookup(let lookup):
            guard let answer = lookup.question.event(failure) else { return }
            reportedChanges.clear()
            event = answer
        case .read(_, let handle): event = .valueRead(handle, .failure(failure))
        case .write(_, let handle): event = .valueWritten(handle, failure)
        case .configure(_, let handle):
            event = .subscriptionChanged(handle, resubscribe(requester.client, to: handle, after: current), failure)
        case .exchangeMTU, .name, .watch, .databaseHash, .serverFeatures:
            preconditionFailure("only the host itself starts this procedure")
        }
        deliver(to: requester, event, order: current.order, into: &outbox)
    }
}

extension Procedure.Outcome {
    /// True if the peer rejected the request because it regards this host as unaware of a change of its database.
    fileprivate var isOutOfSync: Bool {
        switch self {
        case .read(.failure(.att(.databaseOutOfSync)), _), .written(.att(.databaseOutOfSync), _): true
        case .read, .written, .mtu, .found, .configured, .name, .watching, .databaseHash, .serverFeatures: false
        }
    }
}

extension AttributeDiscovery.Question {
    /// Returns the event that the client receives if the discovery fails with `failure`; `nil` if no client made the
    /// discovery.
    fileprivate func event(_ failure: Failure) -> PeerEvent? {
        switch self {
        case .services: .servicesDiscovered(.failure(failure))
        case .includes(let range, _): .includedServicesDiscovered(in: range, .failure(failure))
        case .characteristics(let range, _): .characteristicsDiscovered(in: range, .failure(failure))
        case .descriptors(let handle, _): .descriptorsDiscovered(of: handle, .failure(failure))
        case .verification: nil
        }
    }
}
