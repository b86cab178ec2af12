import BLEWire

// Requests of clients.
extension Host {
    mutating func carryOut(
        _ request: ClientRequest,
        for client: ClientID,
        at now: Instant
    ) {
        switch request {
        case .appPhaseChanged(let phase): changePhase(of: client, to: phase)
        case .security(let request): perform(request, for: client, at: now)
        case _ where !isReady: refuse(request, of: client, for: .poweredOff)
        case .tester(let request): perform(request, for: client, at: now)
        case .showAlerts: break
        case .scan(let scan, let number): startScanning(scan, number, for: client)
        case .stopScan: stopScanning(client)
        case .connect(let peer, let connect): self.connect(client, to: peer, connect, at: now)
        case .cancelConnection(let peer): cancel(client, peer, at: now)
        case .peer(let peer, let request, let number):
            perform(request, on: peer, for: Requester(client, number), at: now)
        case .server(.startAdvertising(let request)): startAdvertising(request, for: client)
        case .server(.stopAdvertising): stopAdvertising(client)
        case .server(.setLatency(let peer, let latency)): setLatency(latency, of: peer, for: client, at: now)
        case .server(.disconnect(let peer)): disconnectCentral(peer, for: client, at: now)
        case .server(.publishChannel(let isEncrypted)):
            guard let app = clients.owner(of: client) else { return note(.unknownClient(client)) }
            withLayers(at: now) { _, channels in
                channels.publish(isEncrypted ? .encrypted : .unencrypted, for: client, of: app)
            }
        case .server(.unpublishChannel(let psm)):
            withLayers(at: now) { _, channels in channels.unpublish(psm, for: client) }
        case .channel(let channel, let request):
            withLayers(at: now) { _, channels in channels.perform(request, on: channel, for: client, at: now) }
        case .service(let request):
            guard let app = clients.owner(of: client) else { return note(.unknownClient(client)) }
            withLayers(at: now) { attributes, _ in attributes.perform(request, for: client, of: app, at: now) }
        }
    }

    /// Records that a client's app has moved to the foreground or background, or was suspended.
    ///
    /// The phase affects the client's scan and advertisement.
    private mutating func changePhase(of client: ClientID, to phase: AppPhase) {
        clients.changePhase(of: client, to: phase)
        discovery.changePhase(of: client, to: phase)
        advertiser.changePhase(of: client, to: phase)
    }

    private mutating func perform(
        _ request: PeerRequest,
        on peer: PeerIdentifier,
        for requester: Requester,
        at now: Instant
    ) {
        guard case .connected(let link)? = clientConnections[requester.client, peer]?.state else {
            return report(to: requester.client, .peer(peer, request.answer(.notConnected), answering: requester.number))
        }
        switch request {
        case .attribute(let request):
            withLayers(at: now) { attributes, _ in attributes.perform(request, on: link, for: requester, at: now) }
        case .link(.readRSSI): sendCommand(.readRSSI, about: link, for: requester, at: now)
        case .link(.tune(let tuning)) where isShared(link, beyondAppOf: requester.client):
            // Another app relies on the current parameters.
            let answer = PeerEvent.tuned(tuning, .notSupported)
            report(to: requester.client, .peer(peer, answer, answering: requester.number))
        case .link(.tune(let tuning)): sendCommand(.tune(tuning), about: link, for: requester, at: now)
        case .openChannel(let psm):
            withLayers(at: now) { _, channels in channels.open(psm, on: link, for: requester, at: now) }
        }
    }

    /// Reports to a client that its request has failed with `failure`.
    mutating func refuse(_ request: ClientRequest, of client: ClientID, for failure: Failure) {
        switch request {
        case .connect(let peer, let connect):
            if !connect.isRenewal { report(to: client, .connectFailed(peer, failure)) }
        case .peer(let peer, let request, let number):
            report(to: client, .peer(peer, request.answer(failure), answering: number))
        case .server(let request): if let answer = request.answer(failure) { report(to: client, .server(answer)) }
        case .service(let request): if let answer = request.answer(failure) { report(to: client, .server(answer)) }
        case .security(.pair(let peer)): report(to: client, .security(.failed(peer, .refused(.unspecified))))
        case .security(.listBonds), .security(.removeBond): report(to: client, .security(.bonds([])))
        case .tester(let request): refuse(request, of: client, for: failure)
        case .scan, .stopScan, .cancelConnection, .channel, .appPhaseChanged, .security, .showAlerts: break
        }
    }
}
