import BLEWire

// Consequences of a change: the next commands and packets, and expired timers.
extension Host {
    /// Queues a command.
    ///
    /// If the queue is full, the request that needs the command fails, and the method returns `false`.
    @discardableResult
    mutating func submit(_ command: HCICommandPacket, for owner: CommandQueue.Owner, at now: Instant) -> Bool {
        let entry = CommandQueue.Command(opcode: command.opcode, packet: command.encoded)
        if commands.submit(entry, for: owner, at: now) { return true }
        note(.limitReached(.queuedCommands))
        switch owner {
        case .linkRequest(let link, let number): refused(number, .limitReached, on: link, at: now)
        case .link: break
        case .setup, .scanner, .initiator, .advertiser, .privacy, .reply, .encryption, .disconnection:
            preconditionFailure("the queue has reserved space for required commands")
        }
        return false
    }

    /// Updates the state machines that control the controller, then sends all commands and packets that the controller
    /// can take.
    mutating func proceed(at now: Instant) {
        if case .ready(let controller) = phase { plan(for: controller, at: now) }
        flush(at: now)
    }

    /// Sends all commands and packets that the controller can take now.
    mutating func flush(at now: Instant) {
        nextDeadline = .unknown
        while let packet = commands.next(at: now) { outbox.send(packet) }
        while let fragment = scheduler.next() {
            outbox.send(fragment)
            if let receipt = fragment.receipt { sent(receipt, at: now) }
        }
        endDrainedLinks(at: now)
        while let packet = commands.next(at: now) { outbox.send(packet) }
    }

    private mutating func plan(for controller: ControllerDescription, at now: Instant) {
        let hasRoom = links.count < configuration.limits.links
        let canConnect = hasRoom && linkShortage.allowsLink(after: links.count)
        let wanted =
            canConnect
            ? clientConnections.wanted.filter { address in !links.values.contains { $0.address == address } } : []
        let isListening = self.isListening || canConnect && clientConnections.awaitsAdvertisements
        let isContended = !controller.scansWhileInitiating && isListening && !wanted.isEmpty
        let turn = turns.turn(isContended: isContended, at: now)
        let pauses = needsPause(at: now)
        initiator.ownAddress = clientConnections.ownAddress
        if !wanted.isEmpty, !initiator.isActive { initiator.prefersShortInterval = allowsFastStart }
        initiator.wanted = pauses || turn == .scanning ? [] : wanted
        scanner.wanted = !pauses && isListening && turn != .connecting ? scanPlan : nil
        advertiser.isAllowed = hasRoom && !pauses && !testerSets.hasTheOnlySet
        let isExclusive = !controller.scansWhileInitiating
        if !isExclusive || !initiator.isActive, let step = scanner.step(at: now) {
            submit(controller.command(step), for: .scanner, at: now)
        }
        if !isExclusive || !scanner.isOn, let step = initiator.step(at: now) {
            if case .create = step, initiator.exceedsAcceptList { note(.limitReached(.acceptList)) }
            submit(controller.command(step, parameters: parametersOfNewLinks), for: .initiator, at: now)
        }
        for client in advertiser.takeStarted() { report(to: client, .server(.advertisingStarted(nil))) }
        if let step = advertiser.step(at: now) {
            submit(controller.command(step, for: .first), for: .advertiser(.first), at: now)
        }
        steerTesterSets(isAllowed: hasRoom && !pauses, controller, at: now)
        if pauses { updatePrivacy(controller, at: now) }
    }

    /// Asks the owner to store a peer record, if the record has changed.
    mutating func remember(_ change: PeerTable.OnChange) { outbox.remember(change) }

    /// Processes all expired timers.
    mutating func expire(at now: Instant) {
        if let opcode = commands.expired(at: now) {
            note(.commandTimedOut(opcode))
            return recover(at: now)
        }
        if initiator.expire(at: now) { note(.overdue(.leCreateConnectionCancel)) }
        for handle in links.handles where links[handle]?.deadline.map({ $0 <= now }) ?? false {
            guard expire(handle, at: now) else { return recover(at: now) }
        }
        discovery.expire(at: now, with: &peers, into: &outbox)
        let begun = clientConnections.endDelays(at: now)
        for clientConnection in begun { useExistingLink(for: clientConnection, at: now) }
        if !begun.isEmpty, lacksLinks { failForLackOfLinks() }
        failOverdueConnections(at: now)
        for handle in pairings.entries.handles {
            pairings.entries.update(handle) { $0.manager.wake(at: now) }
            drainPairing(handle, at: now)
        }
        withLayers(at: now) { attributes, channels in
            channels.wake(at: now)
            attributes.wake(at: now)
        }
    }

    /// Processes the expired timers of a link; returns `false` if the controller has failed to end the link in time.
    private mutating func expire(_ handle: ConnectionHandle, at now: Instant) -> Bool {
        guard let index = links.index(of: handle) else { return true }
        switch links.values[index].phase {
        case .closing(let due, _) where due <= now:
            note(.overdue(.disconnect))
            return false
        case .released(let due) where due <= now:
            note(.undelivered(handle))
            disconnect(handle, at: now)
        case .settling, .up:
            expireEncryption(of: handle, at: now)
            checkFastStart(of: handle, at: now)
        case .released, .closing: break
        }
        return true
    }
}
