import BLEWire

// A peer that has changed refuses requests until it is certain that this host knows: Core 6.0, Vol 3, Part G, 2.5.2.1.
extension GATTClient {
    /// Takes note that the peer refuses the request on a bearer since this host may take its attributes for others.
    ///
    /// The procedure is begun once more when it is known what has changed. If a client's is refused again, all is void;
    /// what the host asks for itself just fails.
    mutating func outOfSync(on index: Int, at now: Instant, into outbox: inout Outbox) {
        guard let current = bearers.all[index].running, current.owner != .catchingUp else { return }
        if current.isRepeated {
            if current.client != nil, !current.isOutdated { servicesChanged(in: .all, at: now, into: &outbox) }
            return
        }
        bearers.all[index].update { $0.refuse(.outOfSync) }
        catchingUp.require(isTold: current.isOutdated)
    }

    /// Begins the next step of catching up; `false` if there is none.
    mutating func proceedCatchingUp(at now: Instant, into outbox: inout Outbox) -> Bool {
        let procedure: Procedure
        switch catchingUp.next() {
        case .nothing: return false
        case .readHash: procedure = .databaseHash
        case .look: procedure = .lookup(AttributeDiscovery(.verification, limit: limits.discoveredAttributes))
        }
        start(ClientProcedure(procedure, for: .catchingUp), on: 0, at: now, into: &outbox)
        return true
    }

    /// Takes what came of a step of catching up.
    mutating func caughtUp(with outcome: Procedure.Outcome, at now: Instant, into outbox: inout Outbox) {
        if catchingUp.receive(outcome, database) == .check { checkDatabase() }
        tellChange(at: now, into: &outbox)
        switch catchingUp.conclude(database) {
        case .goOn: return
        case .lost: servicesChanged(in: .all, at: now, into: &outbox)
        case .caughtUp: break
        }
        keepCache()
    }

    /// The peer says that services changed.
    mutating func servicesChanged(value: [UInt8], at now: Instant, into outbox: inout Outbox) {
        let octets = value[...]
        guard octets.count == 4, let range = AttributeHandleRange(octets.handle(at: 0), octets.handle(at: 2)) else {
            return outbox.append(.note(.dropped(.reserved(field: "Service Changed"), .channel(.attribute, link))))
        }
        catchingUp.told()
        servicesChanged(in: range, at: now, into: &outbox)
    }

    /// Keeps a procedure that is to be begun once more, unless what it is about is gone.
    mutating func stall(_ procedure: ClientProcedure, into outbox: inout Outbox) {
        guard !procedure.isVoid else { return failVoid(procedure, into: &outbox) }
        bearers.stall(procedure)
    }

    /// Ends or repeats what is under way or to be begun once more, now that services changed in `range`.
    mutating func outdateProcedures(in range: AttributeHandleRange, into outbox: inout Outbox) {
        for one in bearers.removeStalled(where: { $0.procedure.isAbout(range) }) { failVoid(one, into: &outbox) }
        for index in bearers.indices {
            var lost: ClientProcedure?
            bearers.all[index].update { current in
                guard current.servicesChanged(in: range) == .lost, current.client != nil else { return }
                lost = current
                current.owner = .nobody
            }
            if let lost { failVoid(lost, into: &outbox) }
        }
    }

    private mutating func failVoid(_ gone: ClientProcedure, into outbox: inout Outbox) {
        guard case .configure(_, let handle) = gone.procedure, let requester = gone.requester else {
            return fail(gone, with: .notFound, into: &outbox)
        }
        tell(requester, .subscriptionChanged(handle, .none, .notFound), order: gone.order, into: &outbox)
    }
}
