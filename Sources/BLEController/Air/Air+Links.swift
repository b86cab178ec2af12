import BLEWire

extension Air {
    /// Runs everything that is due on a connection at `now`: timeouts, agreed changes and the next exchange.
    mutating func runLink(_ index: Int, at now: Instant) {
        while let (role, status) = links.span[index].expired(by: now) {
            end(index, role, reason: status.rawValue, at: now)
        }
        if links.span[index].isPayloadTimerDue(at: now) {
            var overdue: [LinkEvent] = []
            links[index].watchPayloads(at: now, into: &overdue)
            report(overdue, of: index, at: now)
        }
        if links.span[index].mayChange(at: now) {
            var events: [LinkEvent] = []
            links[index].applyChanges(into: &events)
            for role in Role.both { links[index].beginProcedures(role, at: now, into: &events) }
            report(events, of: index, at: now)
        }
        if links.span[index].canExchange, links.span[index].nextExchange <= now {
            links[index].exchange(at: now, over: &path, into: &deliveries)
            if !deliveries.isEmpty { deliver(index) }
        }
        scheduleLink(index)
    }

    /// Schedules the next activity of a connection; if the connection is over for both ends, frees its index instead.
    mutating func scheduleLink(_ index: Int) {
        guard !links.span[index].isAbandoned else {
            if links[index].token != 0 {
                links[index].token = 0
                freeLinks.append(index)
            }
            return
        }
        links[index].token = schedule.add(.link(index), at: links.span[index].due)
    }

    /// Passes the results of an exchange to the two ends and to their hosts.
    private mutating func deliver(_ index: Int) {
        // Swapping the arrays keeps their storage for the next exchange.
        var batch: [LinkDelivery] = [], events: [LinkEvent] = []
        swap(&batch, &deliveries)
        for delivery in batch {
            switch delivery {
            case .data(let role, let octets, let isStart, let instant):
                let (controller, handle) = links.span[index].owner(of: role)
                send(octets, isStart: isStart, on: handle, to: controller, at: instant)
            case .completed(let role, let instant):
                let (controller, handle) = links.span[index].owner(of: role)
                sendCompleted(handle, to: controller, at: instant)
            case .control(let role, let packet, let instant):
                guard links[index][role].isPresent else { continue }
                links[index].receive(packet, role, at: instant, into: &events)
                report(events, of: index, at: instant)
                events.removeAll(keepingCapacity: true)
            case .acknowledged(let role, .terminate, let instant):
                end(index, role, reason: LinkStatus.terminatedByLocalHost.rawValue, at: instant)
            case .acknowledged: break
            case .leftLink(let role, let reason, let instant):
                forget(links[index][role])
                sendDisconnection(links[index][role], reason: reason, at: instant)
            }
        }
        batch.removeAll(keepingCapacity: true)
        swap(&batch, &deliveries)
    }

    /// Ends a connection for one end, and reports the disconnection to that end's host with `reason`, an HCI status
    /// code.
    mutating func end(_ index: Int, _ role: Role, reason: UInt8, at instant: Instant) {
        guard links[index][role].isPresent else { return }
        links[index][role].isPresent = false
        forget(links[index][role])
        sendDisconnection(links[index][role], reason: reason, at: instant)
    }

    /// Ends a connection for one end without reporting it to the host.
    mutating func endSilently(_ index: Int, _ role: Role) {
        links[index][role].isPresent = false
        scheduleLink(index)
    }

    private mutating func forget(_ end: LinkEnd) {
        controllers[end.controller].connections.removeAll { $0.handle == end.handle }
    }

    /// Reports the events of a connection to the hosts.
    mutating func report(_ events: [LinkEvent], of index: Int, at instant: Instant) {
        for event in events {
            switch event {
            case .versionRead(let role, let status): sendVersion(links[index][role], status: status, at: instant)
            case .featuresRead(let role, let status): sendFeatures(links[index][role], status: status, at: instant)
            case .lengthsChanged(let role): sendLengths(links[index][role], at: instant)
            case .phyUpdated(let role, let status):
                sendPHYUpdate(index, role, status: status, at: instant)
            case .timingUpdated(let role, let status): sendTiming(index, role, status: status, at: instant)
            case .parametersRequested(let role, let parameters):
                if !sendParameterRequest(links[index][role], parameters, at: instant) {
                    links[index][role].control.requested = nil
                    links[index].reject(.parameterRequest, role, .unsupportedRemoteFeature)
                }
            case .keyRequested(let request): askForKey(index, request, at: instant)
            case .encryptionChanged(let role, let status):
                sendEncryption(links[index][role], status: status, at: instant)
            case .keyRefreshed(let role, let status): sendKeyRefresh(links[index][role], status: status, at: instant)
            case .payloadTimeoutExpired(let role):
                let event = HCI.AuthenticatedPayloadTimeoutExpired(handle: links[index][role].handle)
                emit(.authenticatedPayloadTimeoutExpired(event), to: links[index][role].controller, at: instant)
            case .ended(let role, let reason): end(index, role, reason: reason, at: instant)
            }
        }
    }

    /// Queues a procedure on a connection, and starts it if it can start now; returns false if too many procedures are
    /// queued or the connection is being closed.
    mutating func begin(
        _ procedure: LinkControl.Procedure,
        on index: Int,
        _ role: Role,
        at now: Instant
    ) -> Bool {
        guard links[index][role].control.submit(procedure) else { return false }
        beginProcedures(on: index, role, at: now)
        return true
    }

    /// Starts the queued procedures that can start now, at one end of a connection.
    mutating func beginProcedures(on index: Int, _ role: Role, at now: Instant) {
        var events: [LinkEvent] = []
        links[index].beginProcedures(role, at: now, into: &events)
        report(events, of: index, at: now)
    }
}
