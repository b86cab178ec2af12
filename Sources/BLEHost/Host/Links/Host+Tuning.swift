import BLEWire

// Speed of links: commands that change or read it, and their results.
extension Host {
    /// Requests long packets and the 2M PHY for a new link, where both controllers support them.
    mutating func tune(
        _ event: HCI.LEReadRemoteFeaturesComplete,
        from controller: ControllerDescription,
        at now: Instant
    ) {
        guard links[event.handle] != nil else { return note(.unknownLink(event.handle)) }
        guard event.status == .success else { return }
        let common = controller.features.intersection(event.features)
        if common.contains(.dataPacketLengthExtension), let length = controller.dataLength,
            controller.commands.contains(.leSetDataLength)
        {
            let command = HCI.LESetDataLength(handle: event.handle, octets: length.octets, time: length.time)
            submit(.leSetDataLength(command), for: .link(event.handle), at: now)
        }
        if common.contains(.phy2M), controller.commands.contains(.leSetPHY) {
            sendCommand(.tune(.physicalLayers(transmit: .le2M, receive: .le2M)), about: event.handle, for: nil, at: now)
        }
    }

    /// Sends a command about a link.
    ///
    /// The client that made the request, if any, receives the result.
    mutating func sendCommand(
        _ request: LinkControl.Request,
        about handle: ConnectionHandle,
        for requester: Requester?,
        at now: Instant
    ) {
        guard case .ready(let controller) = phase, let index = links.index(of: handle) else { return }
        let isCentral = links.values[index].role == .central
        if case .tune(.parameters) = request { links.update(handle) { $0.fastStart.stop() } }
        switch links.values[index].control.ask(request, for: requester) {
        case .tooMany(let pending): finish(pending, .limitReached, on: handle, at: now)
        case .submit(let number):
            guard let command = controller.command(request, on: handle, isCentral: isCentral) else {
                return refused(number, .notSupported, on: handle, at: now)
            }
            submit(command, for: .linkRequest(handle, number), at: now)
        }
    }

    /// Processes the controller's answer to a command about a link.
    ///
    /// `number` identifies the pending request. `answer` is the Command Complete event with the return parameters;
    /// `nil` if the answer was Command Status.
    mutating func answered(
        _ number: UInt32,
        _ status: HCI.Status,
        _ answer: HCI.CommandComplete?,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard status == .success else { return refused(number, .hci(status), on: handle, at: now) }
        guard case .finished(let pending)? = links.update(handle, { $0.control.accepted(number) }) else { return }
        do throws(PacketError) {
            switch pending.request {
            case .readRSSI:
                let result = try answer.returned(by: HCI.ReadRSSI.self)
                reportResult(pending.requester, of: handle, .rssiRead(.success(result.rssi)))
            case .readPHY:
                let layers = try answer.returned(by: HCI.LEReadPHY.self)
                if links.update(handle, { $0.control.physRead(layers) }) == .announce { announceDetails(of: handle) }
            case .tune, .propose: finish(pending, nil, on: handle, at: now)
            }
        } catch {
            note(.dropped(error, .event))
            finish(pending, .hci(.unspecifiedError), on: handle, at: now)
        }
    }

    /// Processes the failure of the command for the pending request `number`.
    mutating func refused(_ number: UInt32, _ failure: Failure, on handle: ConnectionHandle, at now: Instant) {
        guard case .finished(let pending)? = links.update(handle, { $0.control.refused(number) }) else { return }
        finish(pending, failure, on: handle, at: now)
    }

    mutating func updated(_ event: HCI.LEConnectionUpdateComplete, at now: Instant) {
        guard let action = links.update(event.handle, { $0.control.updated(event) }) else {
            return note(.unknownLink(event.handle))
        }
        updated(event.handle, event.status, action, at: now)
    }

    mutating func updated(_ event: HCI.LEPHYUpdateComplete, at now: Instant) {
        guard let action = links.update(event.handle, { $0.control.updated(event) }) else {
            return note(.unknownLink(event.handle))
        }
        updated(event.handle, event.status, action, at: now)
    }

    private mutating func updated(
        _ handle: ConnectionHandle,
        _ status: HCI.Status,
        _ action: LinkControl.OnAnswer,
        at now: Instant
    ) {
        if status == .success { announceDetails(of: handle) }
        guard case .finished(let pending) = action else { return }
        finish(pending, status == .success ? nil : .hci(status), on: handle, at: now)
    }

    mutating func updated(_ event: HCI.LEDataLengthChange) {
        guard links.update(event.handle, { $0.control.updated(event) }) != nil else {
            return note(.unknownLink(event.handle))
        }
        announceDetails(of: event.handle)
    }

    /// Reads the PHYs of a new link.
    ///
    /// The PHYs may differ from 1M if the link was created through extended advertising.
    mutating func readPHY(of handle: ConnectionHandle, _ controller: ControllerDescription, at now: Instant) {
        guard controller.usesExtendedCommands, controller.commands.contains(.leReadPHY),
            controller.features.contains(.phy2M) || controller.features.contains(.phyCoded)
        else { return }
        sendCommand(.readPHY, about: handle, for: nil, at: now)
    }

    /// Reports the result of a command about a link.
    ///
    /// `failure` is `nil` if the command succeeded. If the controllers could not agree on parameters that this host
    /// proposed as the peripheral (`propose`), this host asks the central's host for them with an L2CAP signal.
    mutating func finish(
        _ pending: LinkControl.PendingRequest,
        _ failure: Failure?,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        switch (pending.request, failure) {
        case (.tune(let tuning), _): reportResult(pending.requester, of: handle, .tuned(tuning, failure))
        case (.readRSSI, let failure?): reportResult(pending.requester, of: handle, .rssiRead(.failure(failure)))
        case (.propose(let parameters), _?): signal(parameters, on: handle, at: now)
        case (.readRSSI, nil), (.propose, nil), (.readPHY, _): break
        }
    }

    /// Reports a result to the client that made the request, if there is one.
    private mutating func reportResult(_ requester: Requester?, of handle: ConnectionHandle, _ event: PeerEvent) {
        guard let requester, let peer = links[handle]?.peer else { return }
        report(to: requester.client, .peer(peer, event, answering: requester.number))
    }

    /// Reports the current details of a link to the clients that are connected over it.
    mutating func announceDetails(of handle: ConnectionHandle) {
        guard let state = links[handle] else { return }
        for clientConnection in clientConnections.entries(on: handle) where clientConnection.state == .connected(handle)
        {
            report(to: clientConnection.client, .peer(state.peer, .linkChanged(state.details)))
        }
    }
}

extension HCI.CommandComplete? {
    /// Decodes the return parameters of a `command`.
    fileprivate func returned<Command: HCICommand>(by command: Command.Type) throws(PacketError) -> Command.Return {
        guard let self else { throw .truncated(field: "Return Parameters") }
        return try self.returned(by: command)
    }
}

extension ControllerDescription {
    /// Returns the command for a request about a link; `nil` if the controller does not support the request.
    ///
    /// If this host is the peripheral, its controller can change the connection parameters only if it supports the
    /// Connection Parameters Request procedure.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18, 7.8.33 and 7.8.49.
    fileprivate func command(
        _ request: LinkControl.Request,
        on handle: ConnectionHandle,
        isCentral: Bool
    ) -> HCICommandPacket? {
        switch request {
        case .readRSSI: return .readRSSI(.init(handle: handle))
        case .readPHY: return .leReadPHY(.init(handle: handle))
        case .tune(.parameters(let parameters)), .propose(let parameters):
            guard isCentral || features.contains(.connectionParametersRequest) else { return nil }
            return .leConnectionUpdate(.init(handle: handle, parameters: parameters))
        case .tune(.physicalLayers(let transmit, let receive)):
            guard commands.contains(.leSetPHY) else { return nil }
            var open: HCI.NoPreference = []
            if transmit.isEmpty { open.insert(.transmitter) }
            if receive.isEmpty { open.insert(.receiver) }
            return .leSetPHY(.init(handle: handle, noPreference: open, transmit: transmit, receive: receive))
        case .tune(.dataLength(let octets)):
            guard commands.contains(.leSetDataLength) else { return nil }
            let octets = min(max(octets, 27), 251)
            // A packet has 14 octets besides its payload, if it is encrypted, at 8 µs each.
            return .leSetDataLength(.init(handle: handle, octets: octets, time: (octets + 14) * 8))
        }
    }
}
