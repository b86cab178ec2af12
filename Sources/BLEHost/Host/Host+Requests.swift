import BLEWire

// What clients ask for.
extension Host {
    mutating func carryOut(
        _ request: ClientRequest,
        for client: ClientID,
        role: ClientRole,
        at now: Instant
    ) {
        if case .appMoved(let phase) = request { return move(client, to: phase) }
        if case .security(let request) = request { return perform(request, for: client, at: now) }
        guard case .ready = phase else { return refuse(request, of: client) }
        switch request {
        case .tester(let request): perform(request, for: client, at: now)
        case .showAlerts: break
        case .appMoved, .security: preconditionFailure("this is carried out whatever the controller does")
        case .scan(let scan, let number): startScanning(scan, number, for: client)
        case .stopScan: stopScanning(client)
        case .connect(let peer, let connect): self.connect(client, to: peer, connect, at: now)
        case .cancelConnection(let peer): cancel(client, peer, at: now)
        case .peer(let peer, let request): perform(request, on: peer, for: client, at: now)
        case .server(.startAdvertising(let request)): startAdvertising(request, for: client)
        case .server(.stopAdvertising): stopAdvertising(client)
        case .server(.setLatency(let peer, let latency)): setLatency(latency, of: peer, at: now)
        case .server(.disconnect(let peer)): dismiss(peer, at: now)
        case .server(.publishChannel(let isEncrypted)):
            channels.publish(isEncrypted ? .encrypted : .unencrypted, for: client)
        case .server(.unpublishChannel(let psm)): channels.unpublish(psm, for: client)
        case .channel(let channel, let request): channels.perform(request, on: channel, for: client, at: now)
        case .server(let request): attributes.perform(request, for: client, at: now)
        }
    }

    /// The app of a client is used in another way: what it scans for and advertises follows.
    private mutating func move(_ client: ClientID, to phase: AppPhase) {
        clients.move(client, to: phase)
        discovery.move(client, to: phase)
        advertiser.move(client, to: phase)
    }

    private mutating func perform(
        _ request: PeerRequest,
        on peer: PeerIdentifier,
        for client: ClientID,
        at now: Instant
    ) {
        guard case .connected(let link)? = attachments[client, peer]?.state else {
            return tell(client, .peer(peer, request.answer(.notConnected)))
        }
        switch request {
        case .readRSSI: ask(.readRSSI, about: link, for: client, at: now)
        case .tune(let tuning): ask(.tune(tuning), about: link, for: client, at: now)
        case .openChannel(let psm): channels.open(psm, on: link, for: client, at: now)
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .write, .writeCommand, .subscribe, .forgetDatabase:
            attributes.perform(request, on: link, for: client, at: now)
        }
    }

    /// Answers a request that needs a controller, when there is none.
    private mutating func refuse(_ request: ClientRequest, of client: ClientID) {
        switch request {
        case .connect(let peer, _): tell(client, .connectFailed(peer, .poweredOff))
        case .peer(let peer, let request): tell(client, .peer(peer, request.answer(.poweredOff)))
        case .server(.addService(let service)):
            tell(client, .server(.serviceAdded(service.id, .poweredOff)))
        case .server(.startAdvertising): tell(client, .server(.advertisingStarted(.poweredOff)))
        case .server(.update): tell(client, .server(.updatesTaken(1)))
        case .server(.publishChannel): tell(client, .server(.channelPublished(.none, .poweredOff)))
        case .server(.unpublishChannel(let psm)): tell(client, .server(.channelUnpublished(psm, .poweredOff)))
        case .tester(let request): refuse(request, of: client)
        case .scan, .stopScan, .cancelConnection, .server, .channel, .appMoved, .security, .showAlerts: break
        }
    }
}

extension PeerRequest {
    /// How this request is answered if it comes to nothing.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .readRSSI: .rssiRead(.failure(failure))
        case .tune(let tuning): .tuned(tuning, failure)
        case .discoverServices: .servicesDiscovered(.failure(failure))
        case .discoverIncludedServices(let range, _): .includedServicesDiscovered(in: range, .failure(failure))
        case .discoverCharacteristics(let range, _): .characteristicsDiscovered(in: range, .failure(failure))
        case .discoverDescriptors(let handle, _): .descriptorsDiscovered(of: handle, .failure(failure))
        case .read(let handle): .valueRead(handle, .failure(failure))
        case .write(let handle, _): .valueWritten(handle, failure)
        case .writeCommand: .writeCommandsTaken(1)
        case .subscribe(_, let handle, _): .subscriptionChanged(handle, .none, failure)
        case .forgetDatabase: .databaseForgotten(failure)
        case .openChannel(let psm): .channelOpened(psm, .failure(failure))
        }
    }
}
