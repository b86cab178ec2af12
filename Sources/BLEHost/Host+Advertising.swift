import BLEWire

// Who advertises, and what they hear of it.
extension Host {
    mutating func startAdvertising(_ request: AdvertisingRequest, for client: ClientID) {
        guard case .ready(let controller) = self.phase else { return }
        let phase = clients.phase(of: client), allowsExtended = controller.usesExtendedCommands
        switch advertiser.start(request, for: client, in: phase, allowsExtended: allowsExtended) {
        case .started: break
        case .refused(let failure): tell(client, .server(.advertisingStarted(failure)))
        }
    }

    mutating func stopAdvertising(_ client: ClientID) {
        if advertiser.stop(client) { tell(client, .server(.advertisingStarted(.cancelled))) }
    }

    mutating func advertiserAnswered(_ status: HCI.Status, at now: Instant) {
        guard case .ready(let controller) = phase else { return }
        switch advertiser.answered(status, at: now) {
        case .proceed: break
        case .step(let step): submit(controller.command(step), for: .advertiser, at: now)
        case .failed(let clients):
            for client in clients { tell(client, .server(.advertisingStarted(.hci(status)))) }
        }
    }
}
