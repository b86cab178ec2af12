import BLEWire

// Requests of test suites, and the events for them.
extension Host {
    mutating func perform(_ request: TesterRequest, for client: ClientID, at now: Instant) {
        guard case .ready(let controller) = phase else { return }
        switch request {
        case .reset:
            for bonded in peers.bonds(of: .program) { removeBond(with: bonded.peer, for: .program, at: now) }
            tearDown(at: now)
            pairings.forgetAttempts()
            changeState(to: .resetting)
            setUp(at: now)
        case .readLocalAddress: report(to: client, .tester(.localAddress(controller.address)))
        case .find(let address):
            let peer = peers.identifier(of: address)
            remember(peers.wanted(peer))
            report(to: client, .tester(.found(peer, at: address)))
        case .startSet(let id, let set):
            let kind = set.parameters.ownAddress, hasOwn = kind == .random && controller.usesExtendedCommands
            let failure =
                hasOwn || canUseAddress(kind, on: controller)
                ? testerSets.start(set, as: id, for: client, onlySetIsFree: advertiser.isOff) : .notSupported
            if let failure { report(to: client, .tester(.setStarted(id, failure))) }
        case .stopSet(let id): if !testerSets.stop(id, of: client) { report(to: client, .tester(.setEnded(id))) }
        case .listen(let parameters):
            let isPossible =
                canUseAddress(parameters.ownAddress, on: controller)
                && (parameters.window != nil || parameters.codedWindow != nil && controller.receivesCoded)
            if isPossible { listeners.start(parameters, for: client) }
            report(to: client, .tester(.listening(isPossible ? nil : .notSupported)))
        case .stopListening:
            listeners.stop(client)
            if !isListening { reports.reset() }
        case .secure(let peer, let needsAuthentication):
            secure(peer, needsAuthentication: needsAuthentication, for: client, at: now)
        }
    }

    /// Reports to a test suite that its request has failed with `failure`.
    mutating func refuse(_ request: TesterRequest, of client: ClientID, for failure: Failure) {
        switch request {
        case .startSet(let id, _): report(to: client, .tester(.setStarted(id, failure)))
        case .stopSet(let id): report(to: client, .tester(.setEnded(id)))
        case .listen: report(to: client, .tester(.listening(failure)))
        case .secure(let peer, _): report(to: client, .security(.failed(peer, .disconnected)))
        case .reset, .readLocalAddress, .find, .stopListening: break
        }
    }

    /// True if an app scans or a test suite listens for advertisements.
    var isListening: Bool { discovery.isWanted || listeners.hasSessions }

    /// The scan to run, with the parameters for foreground or background apps or, if no app scans, those of a test
    /// suite.
    var scanPlan: Scanner.Plan {
        let ofApps: ScanParameters? = discovery.isInBackground ? .background : nil
        let parameters = discovery.isWanted ? ofApps : listeners.parameters
        return Scanner.Plan(
            dropsDuplicates: !discovery.wantsDuplicates && !listeners.hasSessions,
            epoch: scanEpoch,
            parameters: parameters ?? ScanParameters()
        )
    }

    /// Reports an advertiser's packet to the test suites that listen.
    mutating func notifyListeners(_ advertisement: ReceivedAdvertisement, _ data: [UInt8]) {
        let packet = ReceivedPacket(
            address: advertisement.address,
            isConnectable: advertisement.isConnectable,
            isScanResponse: advertisement.isScanResponse,
            rssi: advertisement.rssi,
            data: data,
            packet: advertisement.packet
        )
        for client in listeners.clients { report(to: client, .tester(.received(packet))) }
    }

    mutating func notifyTesters(_ event: TesterEvent) {
        for client in clients.testers { report(to: client, .tester(event)) }
    }

    /// Sends the next commands for the advertising sets of test suites, and for all of the apps' sets except the first.
    ///
    /// `isAllowed` is true if the sets of test suites may be advertised now.
    mutating func steerTesterSets(isAllowed: Bool, _ controller: ControllerDescription, at now: Instant) {
        for (set, step) in advertiser.furtherSteps(at: now) + testerSets.steps(isAllowed: isAllowed, at: now) {
            submit(controller.command(step, for: set), for: .advertiser(set), at: now)
        }
        for entry in testerSets.takeEvents() { report(to: entry.client, .tester(entry.event)) }
    }

    mutating func testerSetAnswered(_ status: HCI.Status, in set: AdvertisingHandle, at now: Instant) {
        guard case .ready(let controller) = phase else { return }
        let (next, entry) = testerSets.answered(status, in: set, at: now)
        if let next { submit(controller.command(next, for: set), for: .advertiser(set), at: now) }
        if let entry { report(to: entry.client, .tester(entry.event)) }
    }

    private mutating func secure(
        _ peer: PeerIdentifier,
        needsAuthentication: Bool,
        for client: ClientID,
        at now: Instant
    ) {
        guard let handle = link(to: peer), let index = links.index(of: handle) else {
            return report(to: client, .security(.failed(peer, .disconnected)))
        }
        let needed: LinkSecurity = needsAuthentication ? .authenticated : .encrypted
        if let strength = links.values[index].strength, pairings.policy(for: apps(on: handle)).admits(strength),
            links.values[index].details.security >= needed
        {
            let isBonded = peers.bond(with: peer) != nil
            return report(to: client, .security(.secured(peer, strength, isBonded: isBonded)))
        }
        raiseSecurity(of: handle, to: needed, at: now)
    }
}
