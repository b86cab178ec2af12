import BLEWire

// Beginning and end of links.
extension Host {
    /// Processes the controller's answer to a command from the initiator.
    mutating func initiatorAnswered(_ status: HCI.Status, at now: Instant) {
        switch initiator.answered(status, at: now) {
        case .proceed: break
        case .refused(.connectionLimitExceeded), .refused(.memoryCapacityExceeded):
            linkShortage.controllerRefused(after: links.count)
            failForLackOfLinks()
        case .refused(.invalidCommandParameters), .refused(.unsupportedFeatureOrParameterValue),
            .refused(.unknownCommand):
            for clientConnection in clientConnections.all where clientConnection.state == .pending {
                endConnection(clientConnection, .hci(status))
            }
        case .refused: break
        }
    }

    mutating func connectionCompleted(
        _ status: HCI.Status,
        _ link: NewLink,
        from controller: ControllerDescription,
        at now: Instant
    ) {
        guard status == .success else {
            if !initiator.completed(status, at: now) { note(.unexpectedEvent(.leMeta)) }
            if status != .unknownConnectionIdentifier { note(.establishmentFailed(link.details.address, status)) }
            return
        }
        let handle = link.handle, isCentral = link.role == .central, local: DeviceAddress
        if isCentral {
            local = controller.commonAddress(initiator.usedAddress) ?? controller.visibleAddress
            if !initiator.completed(status, at: now) { note(.unexpectedEvent(.leMeta)) }
        } else {
            local = centralConnected(to: controller)
        }
        if links[handle] != nil {
            note(.unexpectedEvent(.leMeta))
            ended(handle, .unspecifiedError, at: now)
        }
        guard links.count < configuration.limits.links else {
            note(.limitReached(.links))
            let command = HCI.Disconnect(handle: handle, reason: .remoteDeviceLowResources)
            submit(.disconnect(command), for: .link(handle), at: now)
            return
        }
        linkUp(link, showing: local, at: now)
        if isCentral, links[handle]?.isClosing == false, controller.commands.contains(.leReadRemoteFeatures) {
            submit(.leReadRemoteFeatures(.init(handle: handle)), for: .link(handle), at: now)
        }
        if links[handle]?.isClosing == false { readPHY(of: handle, controller, at: now) }
        receivePreConnectionData(of: handle, at: now)
    }

    private mutating func linkUp(_ link: NewLink, showing local: DeviceAddress, at now: Instant) {
        var link = link
        let handle = link.handle, role = link.role, peer: PeerIdentifier
        (peer, link.details.address) = peers.identify(link)
        links[handle] = LinkState(link, to: peer, as: local)
        let address = link.details.address
        notifyTesters(.linkMade(.init(handle: handle, peer: peer, address: address, role: role)))
        scheduler.linkUp(handle)
        if role == .central { beginFastStart(of: handle, at: now) }
        for clientConnection in clientConnections.entries(to: peer) where clientConnection.state == .pending {
            useExistingLink(for: clientConnection, at: now)
        }
        let users = role == .peripheral ? clientsOfNewCentrals : []
        let bond = usableBond(on: handle, and: users), isClaimed = bond?.longTermKey(as: role) != nil
        withLayers(at: now) { attributes, channels in
            channels.linkUp(handle, peer: peer, role: role)
            attributes.linkUp(
                handle,
                peer: peer,
                role: role,
                bond: isClaimed ? nil : bond,
                claimed: isClaimed ? bond : nil,
                at: now
            )
        }
        note(users, on: handle)
        encryptIfBonded(handle, at: now)
        disconnectIfUnused(handle, at: now)
        if lacksLinks { failForLackOfLinks() }
    }

    mutating func disconnected(_ event: HCI.DisconnectionComplete, at now: Instant) {
        guard event.status == .success else { return note(.unexpectedEvent(.disconnectionComplete)) }
        guard links[event.handle] != nil else { return note(.unknownLink(event.handle)) }
        ended(event.handle, event.reason, at: now)
    }

    /// Records the end of a link.
    ///
    /// First all clients receive the new list of links, then the clients of this link learn that it has ended. A client
    /// that asked to reconnect waits for a new link.
    mutating func ended(_ handle: ConnectionHandle, _ reason: HCI.Status, at now: Instant) {
        guard let state = links[handle] else { return }
        if !state.isClosing { note(.linkLost(handle, reason)) }
        endData(of: handle, at: now)
        let wasUp = state.phase != .settling, failure = state.failure(reason)
        linkDown(handle, .notConnected, channels: failure, at: now)
        notifyTesters(.linkEnded(handle, reason))
        if wasUp { announceLinks() }
        for clientConnection in clientConnections.entries(on: handle) {
            lost(clientConnection, reason, failure, at: now)
        }
    }

    private mutating func lost(
        _ clientConnection: ClientConnections.ClientConnection,
        _ reason: HCI.Status,
        _ failure: Failure,
        at now: Instant
    ) {
        let client = clientConnection.client, peer = clientConnection.peer
        updateConnectionAddress(of: peer)
        switch clientConnection.state {
        case .delayed, .pending: break
        case .linked:
            guard reason.isEstablishmentFailure else { return endConnection(clientConnection, failure) }
            note(.establishmentFailed(clientConnection.address, reason))
            clientConnections.setState(.pending, for: client, peer)
        case .connected:
            let returns = clientConnection.request.reconnects
            if returns {
                clientConnections.setState(.pending, for: client, peer)
            } else {
                clientConnections.remove(client, peer)
            }
            report(to: client, .disconnected(peer, failure, isReconnecting: returns))
        case .disconnecting(_, let again):
            clientConnections.remove(client, peer)
            report(to: client, .disconnected(peer, nil, isReconnecting: false))
            if let again { connect(client, to: peer, again, at: now) }
        }
    }

    /// Fails all pending requests on a link with `failure`, closes its channels with `channelFailure`, and removes the
    /// link.
    mutating func linkDown(
        _ handle: ConnectionHandle,
        _ failure: Failure,
        channels channelFailure: Failure,
        at now: Instant
    ) {
        guard let state = links[handle] else { return }
        endPairing(on: handle, to: state.peer, at: now)
        withLayers(at: now) { attributes, channels in
            channels.linkDown(handle, failure: channelFailure)
            attributes.linkDown(handle, failure: failure, at: now)
        }
        let pendingRequests = links.update(handle) { $0.control.end() } ?? []
        for pending in pendingRequests { finish(pending, failure, on: handle, at: now) }
        links[handle] = nil
        linkShortage.linkEnded()
        scheduler.linkDown(handle)
        commands.removeCommands(of: handle)
    }

    /// Records the services that clients have discovered on a peer.
    mutating func found(_ services: [BluetoothUUID], on peer: PeerIdentifier) {
        peers.found(services, on: peer)
        if link(to: peer) != nil { announceLinks() }
    }

    /// Sends each central and peripheral session the list of the links that the session may know about.
    mutating func announceLinks() {
        for client in clients.centrals { report(to: client, .systemLinks(systemLinks(for: client))) }
        for client in clients.peripherals { announceCentrals(to: client) }
    }
}

extension HCI.Status {
    /// True if this reason for the end of a link can mean that the link was never established.
    ///
    /// The reasons also occur when an established link is lost, so they count only before the first use of the link.
    fileprivate var isEstablishmentFailure: Bool {
        switch self {
        case .connectionFailedToBeEstablished, .connectionTimeout, .linkLayerResponseTimeout, .instantPassed: true
        default: false
        }
    }
}
