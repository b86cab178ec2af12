import BLEWire

// What clients want changed about their links, and what becomes of it.
extension Host {
    /// Asks the controller for a change on behalf of a client, which hears of the outcome once.
    mutating func tune(_ handle: ConnectionHandle, _ tuning: LinkTuning, for client: ClientID?, at now: Instant) {
        guard case .ready(let controller) = phase, let index = links.index(of: handle) else { return }
        let peer = links.values[index].peer
        let number = links.values[index].lastTuner &+ 1
        let tuner = LinkTuner(number: number, client: client, tuning: tuning)
        guard links.values[index].tuners.count < LinkTuner.limit else { return answer(tuner, .limitReached, of: peer) }
        let isCentral = links.values[index].role == .central
        guard let command = controller.command(tuning, on: handle, isCentral: isCentral) else {
            return answer(tuner, .notSupported, of: peer)
        }
        links.values[index].lastTuner = number
        links.values[index].tuners.append(tuner)
        submit(command, for: .tuner(handle, number), at: now)
    }

    /// The controller has taken or refused the command for a change.
    mutating func tunerAnswered(_ status: HCI.Status, _ number: UInt32, of handle: ConnectionHandle) {
        guard status == .success else { return endTuner(number, .hci(status), of: handle) }
        // Of the length of packets no event tells if it stays as it is.
        let tuner = links[handle]?.tuners.first { $0.number == number }
        if case .dataLength? = tuner?.tuning { endTuner(number, nil, of: handle) }
    }

    /// Tells whoever asked for a change, and still waits for it, what became of it.
    mutating func endTuner(_ number: UInt32, _ failure: Failure?, of handle: ConnectionHandle) {
        guard let index = links.index(of: handle),
            let place = links.values[index].tuners.firstIndex(where: { $0.number == number })
        else { return }
        let tuner = links.values[index].tuners.remove(at: place)
        answer(tuner, failure, of: links.values[index].peer)
    }

    mutating func updated(_ event: HCI.LEConnectionUpdateComplete, at now: Instant) {
        updated(event.handle, event.status, at: now)
        guard let index = links.index(of: event.handle) else { return }
        if event.status == .success {
            links.values[index].details.set(event.interval, event.latency, event.timeout)
            announceDetails(of: event.handle)
        }
        finish(.parameters, event.status, on: event.handle)
    }

    mutating func updated(_ event: HCI.LEPHYUpdateComplete) {
        guard let index = links.index(of: event.handle) else { return note(.unknownLink(event.handle)) }
        if event.status == .success {
            links.values[index].details.transmitPHY = event.transmit
            links.values[index].details.receivePHY = event.receive
            announceDetails(of: event.handle)
        }
        finish(.physicalLayers, event.status, on: event.handle)
    }

    /// Asks on which PHYs a link is that was made by an extended advertisement, which need not be the 1M PHY.
    mutating func readPhysicalLayers(of handle: ConnectionHandle, _ controller: ControllerDescription, at now: Instant)
    {
        guard controller.usesExtendedCommands, controller.commands.contains(.leReadPHY),
            controller.features.contains(.phy2M) || controller.features.contains(.phyCoded)
        else { return }
        submit(.leReadPHY(.init(handle: handle)), for: .physicalLayers(handle), at: now)
    }

    /// Takes what the controller says about the PHYs of a link.
    mutating func physicalLayersRead(
        _ status: HCI.Status,
        _ answer: HCI.CommandComplete?,
        of handle: ConnectionHandle
    ) {
        guard status == .success, let index = links.index(of: handle) else { return }
        do throws(PacketError) {
            guard let answer else { throw .truncated(field: "TX PHY") }
            let layers = try answer.returned(by: HCI.LEReadPHY.self)
            guard
                (links.values[index].details.transmitPHY, links.values[index].details.receivePHY)
                    != (layers.transmit, layers.receive)
            else { return }
            links.values[index].details.transmitPHY = layers.transmit
            links.values[index].details.receivePHY = layers.receive
            announceDetails(of: handle)
        } catch {
            note(.dropped(error, .event))
        }
    }

    mutating func updated(_ event: HCI.LEDataLengthChange) {
        guard let index = links.index(of: event.handle) else { return note(.unknownLink(event.handle)) }
        links.values[index].details.transmitOctets = Int(event.transmitOctets)
        links.values[index].details.receiveOctets = Int(event.receiveOctets)
        announceDetails(of: event.handle)
    }

    /// Answers the oldest change of that kind.
    private mutating func finish(_ kind: LinkTuner.Kind, _ status: HCI.Status, on handle: ConnectionHandle) {
        guard let index = links.index(of: handle),
            let place = links.values[index].tuners.firstIndex(where: { $0.isAnswered(with: kind) })
        else { return }
        let tuner = links.values[index].tuners.remove(at: place)
        answer(tuner, status == .success ? nil : .hci(status), of: links.values[index].peer)
    }

    /// Tells whoever asked for a change what became of it.
    mutating func answer(_ tuner: LinkTuner, _ failure: Failure?, of peer: PeerIdentifier) {
        if let client = tuner.client { tell(client, .peer(peer, .tuned(tuner.tuning, failure))) }
    }

    /// Tells the clients of a link what it is like now.
    mutating func announceDetails(of handle: ConnectionHandle) {
        guard let state = links[handle] else { return }
        for attachment in attachments.on(handle) where attachment.state == .connected(handle) {
            tell(attachment.client, .peer(state.peer, .linkChanged(state.details)))
        }
    }
}

extension ControllerDescription {
    /// The command for a change of a link, `nil` if the controller does not know it.
    ///
    /// A peripheral can have the parameters changed only if the controllers can agree on it by themselves.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18, 7.8.33 and 7.8.49.
    fileprivate func command(
        _ tuning: LinkTuning,
        on handle: ConnectionHandle,
        isCentral: Bool
    ) -> HCICommandPacket? {
        switch tuning {
        case .parameters(let parameters):
            guard isCentral || features.contains(.connectionParametersRequest) else { return nil }
            return .leConnectionUpdate(.init(handle: handle, parameters: parameters))
        case .physicalLayers(let transmit, let receive):
            guard commands.contains(.leSetPHY) else { return nil }
            var open: HCI.NoPreference = []
            if transmit.isEmpty { open.insert(.transmitter) }
            if receive.isEmpty { open.insert(.receiver) }
            return .leSetPHY(.init(handle: handle, noPreference: open, transmit: transmit, receive: receive))
        case .dataLength(let octets):
            guard commands.contains(.leSetDataLength) else { return nil }
            let octets = min(max(octets, 27), 251)
            // A packet has 14 octets besides its payload, if it is encrypted, at 8 µs each.
            return .leSetDataLength(.init(handle: handle, octets: octets, time: (octets + 14) * 8))
        }
    }
}
