import BLEWire

// Who advertises, and what they hear of it.
extension Host {
    mutating func startAdvertising(_ request: AdvertisingRequest, for client: ClientID) {
        guard case .ready(let controller) = phase else { return }
        switch advertiser.start(request, for: client, allowsExtended: controller.usesExtendedCommands) {
        case .started:
            if advertiser.servicesLeftOut > 0 { note(.servicesLeftOut(count: advertiser.servicesLeftOut)) }
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
