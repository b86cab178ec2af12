import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheralManager {
    func stateChanged(_ state: CBManagerState) {
        let last = replaceState(with: state)
        guard last != state else { return }
        // A relaunched app may have started advertising before Bluetooth was switched off.
        if last == .poweredOn || state == .poweredOff { radioLost() }
        if state.invalidatesObjects, last != .unknown { forgetServices() }
        if last.invalidatesObjects, !state.invalidatesObjects {
            content.withLock { $0.advertising.forgetUnansweredStarts() }
        }
        if last == .poweredOff, state == .poweredOn { radioReturned() }
        delegate?.peripheralManagerDidUpdateState(self)
    }

    /// Publishes the services again, and advertises again, because the radio has returned.
    private func radioReturned() {
        let (services, advertisement) = content.withLock { ($0.services.definitions, $0.advertising.radioReturned()) }
        if !services.isEmpty { session.send(.service(.removeAllServices)) }
        for service in services { session.send(.service(.addService(service))) }
        guard let advertisement else { return }
        session.send(.server(.stopAdvertising))
        session.send(.server(.startAdvertising(advertisement)))
    }

    private func radioLost() {
        endChannels(.poweredOff)
        content.withLock {
            $0.advertising.radioLost()
            $0.services.unsubscribeAll()
            $0.window = SendWindow()
            $0.connections = []
        }
    }

    /// Drops the published services and the advertisement, in this manager and at the host.
    private func forgetServices() {
        content.withLock {
            _ = $0.advertising.stop()
            $0.services.withdrawAll()
        }
        session.send(.server(.stopAdvertising))
        session.send(.service(.removeAllServices))
    }

    /// Updates the app's objects for `event`, then calls the delegate; runs on the manager's queue.
    ///
    /// `latest` holds the central of the previous events, and is updated.
    func apply(_ event: ServerEvent, _ latest: inout LatestPeers) {
        switch event {
        case .serviceAdded(let id, let failure): serviceAdded(id, failure)
        case .advertisingStarted(let failure):
            switch content.withLock({ $0.advertising.answered(success: failure == nil) }) {
            case .callDelegate:
                delegate?.peripheralManagerDidStartAdvertising(self, error: failure?.error(about: .server))
            case .nothing: break
            }
        case .centralsConnected(let connections): content.withLock { $0.connections = connections }
        case .subscribed(let remote, let id):
            guard let characteristic = characteristic(id) else { return }
            let central = central(remote)
            characteristic.subscribe(central)
            delegate?.peripheralManager(self, central: central, didSubscribeTo: characteristic)
        case .unsubscribed(let remote, let id):
            guard let characteristic = characteristic(id) else { return }
            let central = central(remote)
            characteristic.unsubscribe(central)
            delegate?.peripheralManager(self, central: central, didUnsubscribeFrom: characteristic)
        case .readRequested(let transaction, let remote, let id, let offset):
            readRequested(transaction, central(remote, &latest), id, offset: offset)
        case .writeRequested(let transaction, let remote, let parts):
            writeRequested(transaction, central(remote, &latest), parts)
        case .updatesTaken(let count):
            switch content.withLock({ $0.window.taken(count) }) {
            case .reopened(wasRefused: true): delegate?.peripheralManagerIsReady(toUpdateSubscribers: self)
            case .reopened(wasRefused: false), .nothing: break
            }
        case .centralChanged(let remote): _ = central(remote)
        case .confirmed: break
        case .channelPublished(let psm, let failure):
            let error = failure?.error(about: .channel)
            delegate?.peripheralManager(self, didPublishL2CAPChannel: psm.wire, error: error)
        case .channelUnpublished(let psm, let failure):
            if failure == nil { withdrawChannels(psm.wire) }
            let error = failure?.error(about: .channel)
            delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm.wire, error: error)
        case .channelOpened(let opened, let remote):
            let channel = adopt(opened, with: central(remote))
            delegate?.peripheralManager(self, didOpen: channel, error: nil)
        }
    }

    private func serviceAdded(_ id: LocalAttributeID, _ failure: Failure?) {
        guard let service = content.withLock({ $0.services.answered(id, success: failure == nil) }) else { return }
        delegate?.peripheralManager(self, didAdd: service, error: failure?.error(about: .server))
    }

    private func readRequested(
        _ transaction: ServerTransaction,
        _ central: CBCentral,
        _ id: LocalAttributeID,
        offset: Int
    ) {
        guard let characteristic = characteristic(id), let delegate else {
            return refuse(transaction)
        }
        let request = CBATTRequest(
            CBATTRequest.Exchange(transaction, to: reference),
            from: central,
            to: characteristic,
            offset: offset,
            value: nil
        )
        delegate.peripheralManager(self, didReceiveRead: request)
    }

    private func writeRequested(_ transaction: ServerTransaction?, _ central: CBCentral, _ parts: WriteGroup) {
        let exchange = CBATTRequest.Exchange(transaction, to: reference)
        let requests = parts.compactMap { part in
            characteristic(part.attribute).map {
                CBATTRequest(exchange, from: central, to: $0, offset: part.offset, value: Data(octets: part.value))
            }
        }
        // A group of writes is carried out as a whole or not at all.
        guard let delegate, !requests.isEmpty, requests.count == parts.count else {
            if let transaction { refuse(transaction) }
            return
        }
        delegate.peripheralManager(self, didReceiveWrite: requests)
    }

    /// Refuses a request that the app cannot answer, because there is no delegate or a characteristic is not published.
    private func refuse(_ transaction: ServerTransaction) {
        session.send(.service(.respond(transaction, .failure(.requestNotSupported))))
    }

    private func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? {
        content.withLock { $0.services.characteristic(id) }
    }

    private func central(_ remote: RemoteCentral, _ latest: inout LatestPeers) -> CBCentral {
        if let central = latest.central, central.peer.rawValue == remote.peer.rawValue {
            central.update(mtu: remote.mtu)
            return central
        }
        let central = central(remote)
        latest.central = central
        return central
    }

    /// Returns the object for `remote`: the one that the app retains, or a new one.
    func central(_ remote: RemoteCentral) -> CBCentral {
        content.withLock {
            if let known = $0.centrals[remote.peer] {
                known.update(mtu: remote.mtu)
                return known
            }
            let new = CBCentral(remote)
            $0.centrals[remote.peer] = new
            return new
        }
    }
}
