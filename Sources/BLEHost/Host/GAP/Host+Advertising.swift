import BLEWire

// Advertising: requests of clients, and events of the controller.
extension Host {
    mutating func startAdvertising(_ request: AdvertisingRequest, for client: ClientID) {
        guard case .ready(let controller) = self.phase else { return }
        let phase = clients.phase(of: client), allowsExtended = controller.usesExtendedCommands
        switch advertiser.start(request, for: client, in: phase, allowsExtended: allowsExtended) {
        case .started: break
        case .refused(let failure): report(to: client, .server(.advertisingStarted(failure)))
        }
    }

    mutating func stopAdvertising(_ client: ClientID) {
        if advertiser.stop(client) { report(to: client, .server(.advertisingStarted(.cancelled))) }
    }

    mutating func advertiserAnswered(_ status: HCI.Status, in set: AdvertisingHandle, at now: Instant) {
        guard !testerSets.uses(set) else { return testerSetAnswered(status, in: set, at: now) }
        guard case .ready(let controller) = phase else { return }
        switch advertiser.answered(status, in: set, at: now) {
        case .proceed: break
        case .step(let step):
            submit(controller.command(step, for: set), for: .advertiser(set), at: now)
        case .failed(let clients):
            for client in clients { report(to: client, .server(.advertisingStarted(.hci(status)))) }
        }
    }

    /// Records that the controller has ended an advertising set, because a central connected or for another reason.
    mutating func setEnded(_ event: HCI.LEAdvertisingSetTerminated) {
        guard testerSets.uses(event.set) else { return advertiser.ended(event.set) }
        if event.status == .success, case .ready(let controller) = phase {
            let address = controller.setAddress(testerSets.ownAddress(of: event.set))
            links.update(event.handle) { $0.noteLocalAddress(address) }
        }
        testerSets.ended(event.set)
    }

    /// Records that a central has connected.
    ///
    /// If only one advertisement can have led to the connection, that advertisement is recorded as ended.
    ///
    /// - Returns: The address of this host to which the central connected; if that is not certain, the address that
    ///   unbonded peers usually see.
    mutating func centralConnected(to controller: ControllerDescription) -> DeviceAddress {
        let others = testerSets.possiblyAdvertising
        if others.isEmpty {
            advertiser.ended()
        } else if advertiser.isOff, others.count == 1 {
            let kind = testerSets.ownAddress(of: others[0])
            testerSets.ended(others[0])
            return controller.usesExtendedCommands
                ? controller.setAddress(kind) : controller.commonAddress(kind) ?? controller.visibleAddress
        }
        return controller.visibleAddress
    }
}
