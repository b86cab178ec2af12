import BLEWire

// After its database has changed, a peer rejects requests until it is certain that this host knows of the change: Core
// 6.0, Vol 3, Part G, 2.5.2.1.
extension GATTClient {
    /// Records that the peer rejected a request because it regards this host as unaware of a change.
    ///
    /// The procedure is repeated when the changed range is known. If a client's procedure is rejected a second time,
    /// all attributes are invalidated. If one of the host's own procedures is rejected a second time, that procedure
    /// fails.
    mutating func outOfSync(on index: Int, at now: Instant, into outbox: inout Outbox) {
        guard let current = bearers.all[index].running, current.owner != .recovery else { return }
        if current.isRepeated {
            if current.client != nil, !current.isOutdated { servicesChanged(in: .all, at: now, into: &outbox) }
            return
        }
        bearers.all[index].update { $0.refuse(.outOfSync) }
        recovery.require(wasReported: current.isOutdated)
    }

    /// Starts the next step of the recovery; returns `false` if no step is due.
    mutating func proceedRecovery(at now: Instant, into outbox: inout Outbox) -> Bool {
        let procedure: Procedure
        switch recovery.next() {
        case .nothing: return false
        case .readHash: procedure = .databaseHash
        case .verify: procedure = .lookup(AttributeDiscovery(.verification, limit: limits.discoveredAttributes))
        }
        start(ClientProcedure(procedure, for: .recovery), on: 0, at: now, into: &outbox)
        return true
    }

    /// Processes the result of a recovery step, and starts the next one or ends the recovery.
    mutating func recovered(with outcome: Procedure.Outcome, at now: Instant, into outbox: inout Outbox) {
        if recovery.receive(outcome, database) == .check { checkDatabase() }
        reportChange(at: now, into: &outbox)
        switch recovery.conclude(database) {
        case .verifyMore: return
        case .lost: servicesChanged(in: .all, at: now, into: &outbox)
        case .recovered: break
        }
        queueStoringCache()
    }

    /// Processes a Service Changed indication.
    mutating func servicesChanged(value: [UInt8], at now: Instant, into outbox: inout Outbox) {
        let octets = value[...]
        guard octets.count == 4, let range = AttributeHandleRange(octets.handle(at: 0), octets.handle(at: 2)) else {
            return outbox.append(.note(.dropped(.reserved(field: "Service Changed"), .channel(.attribute, link))))
        }
        recovery.noteReportedChange()
        servicesChanged(in: range, at: now, into: &outbox)
    }

    /// Queues a procedure to be repeated, or fails it if its attribute no longer exists.
    mutating func queueForRepetition(_ procedure: ClientProcedure, into outbox: inout Outbox) {
        guard !procedure.isAboutRemoved else { return failRemoved(procedure, into: &outbox) }
        bearers.queueForRepetition(procedure)
    }

    /// Updates all procedures after services in `range` changed; procedures about removed attributes fail.
    mutating func updateProcedures(afterChangeIn range: AttributeHandleRange, into outbox: inout Outbox) {
        for one in bearers.removeProceduresToRepeat(where: { $0.procedure.isAbout(range) }) {
            failRemoved(one, into: &outbox)
        }
        for index in bearers.indices {
            var lost: ClientProcedure?
            bearers.all[index].update { current in
                guard current.servicesChanged(in: range) == .lost, current.client != nil else { return }
                lost = current
                current.owner = .noClient
            }
            if let lost { failRemoved(lost, into: &outbox) }
        }
    }

    private mutating func failRemoved(_ gone: ClientProcedure, into outbox: inout Outbox) {
        guard case .configure(_, let handle) = gone.procedure, let requester = gone.requester else {
            return fail(gone, with: .notFound, into: &outbox)
        }
        deliver(to: requester, .subscriptionChanged(handle, .none, .notFound), order: gone.order, into: &outbox)
    }
}
