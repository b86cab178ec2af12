import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheral {
    /// Takes what the host says but for what is notified; on the manager's queue.
    func receive(_ event: PeerEvent, answering number: RequestNumber) {
        switch content.withLock({ $0.requests.receive(event, answering: number) }) {
        case .tell: apply(event)
        case .discard: discard(event)
        case .keep: break
        }
        proceed()
    }

    /// Sends what may be sent now, and tells the app of what was answered; on the manager's queue.
    ///
    /// What the app asks for meanwhile, it hears of later.
    func proceed() {
        for _ in 0..<content.withLock({ $0.requests.count }) {
            let answer = content.withLock { content in
                let (answer, requests) = content.requests.proceed()
                for (request, number) in requests { session.send(.peer(peer, request, number)) }
                return answer
            }
            guard let answer else { return }
            answer.tell(self)
        }
    }

    /// Answers all that has not been answered, since there is no connection any more.
    ///
    /// The host has answered what it knew of; this is what waited for its turn, or came too late.
    func failRequests(_ failure: Failure) {
        for answer in content.withLock({ $0.requests.removeAll(failure) }) { answer.tell(self) }
    }

    /// Brings the objects up to date with `event`, then tells the delegate; on the manager's queue.
    func apply(_ event: PeerEvent) {
        guard content.withLock({ $0.link.acceptsAnswers }) else { return discard(event) }
        tellDelegate(event)
        tellObservers(event)
    }

    private func tellDelegate(_ event: PeerEvent) {
        switch event {
        case .mtuChanged(let mtu): content.withLock { $0.mtu = mtu }
        case .nameChanged(let name):
            guard self.name != name else { return }
            setName(name)
            delegate?.peripheralDidUpdateName(self)
        case .linkChanged(let details): content.withLock { $0.details = details }
        case .tuned: break
        case .rssiRead(let result): rssiRead(result)
        case .servicesDiscovered(let result):
            voidRequests(replacedBy: result)
            let failure = keep(result) { $0.database.add($1, of: self) }
            delegate?.peripheral(self, didDiscoverServices: failure)
        case .includedServicesDiscovered(let range, let result): includedServicesDiscovered(in: range, result)
        case .characteristicsDiscovered(let range, let result): characteristicsDiscovered(in: range, result)
        case .descriptorsDiscovered(let handle, let result): descriptorsDiscovered(of: handle, result)
        case .valueRead(let handle, let result): valueRead(handle, result)
        case .valueWritten(let handle, let failure): valueWritten(handle, failure)
        case .writeCommandsTaken(let count): writeCommandsTaken(count)
        case .subscriptionChanged(let handle, let subscription, let failure):
            subscriptionChanged(handle, subscription, failure)
        case .valueNotified(let handle, let value): notified(handle, value)
        case .servicesModified(let range):
            voidRequests(in: range)
            let gone = content.withLock { $0.database.remove(in: range) }
            delegate?.peripheral(self, didModifyServices: gone)
        case .databaseForgotten(nil):
            voidRequests(in: .all)
            let gone = content.withLock { $0.database.removeAll() }
            delegate?.peripheral(self, didModifyServices: gone)
        case .databaseForgotten: break
        case .channelOpened(_, let result): channelOpened(result)
        }
    }

    /// Answers what was asked about services that are gone, while the app can still be told what it asked about.
    private func voidRequests(in range: AttributeHandleRange) {
        let answers = content.withLock { $0.requests.void(in: $0.database.ranges(touching: range)) }
        for answer in answers { answer.tell(self) }
    }

    /// Does the same for services of which the peripheral did not say that they are gone, but others are there now.
    private func voidRequests(replacedBy result: Result<[DiscoveredService], Failure>) {
        guard case .success(let found) = result else { return }
        let answers = content.withLock { $0.requests.void(in: $0.database.ranges(replacedBy: found)) }
        for answer in answers { answer.tell(self) }
    }

    private func voidRequests(replacedBy result: Result<[DiscoveredCharacteristic], Failure>, in service: CBService) {
        guard case .success(let found) = result else { return }
        let answers = content.withLock { $0.requests.void(in: $0.database.ranges(replacedBy: found, in: service)) }
        for answer in answers { answer.tell(self) }
    }

    /// Gives back what an answer brought that comes too late.
    private func discard(_ event: PeerEvent) {
        guard case .channelOpened(_, .success(let channel)) = event else { return }
        session.send(.channel(channel.id, .close))
    }

    private func channelOpened(_ result: Result<OpenedChannel, Failure>) {
        switch result {
        case .success(let opened):
            guard let channel = reference.manager?.adopt(opened, with: self) else { return }
            delegate?.peripheral(self, didOpen: channel, error: nil)
        case .failure(let failure):
            delegate?.peripheral(self, didOpen: nil, error: failure.error(about: .channel))
        }
    }

    private func rssiRead(_ result: Result<RSSI, Failure>) {
        let failure = keep(result) { $0.rssi = $1.number }
        let number = (try? result.get().number) ?? RSSI.unavailable.number
        delegate?.peripheral(self, didReadRSSI: number, error: failure)
    }

    private func includedServicesDiscovered(
        in range: AttributeHandleRange,
        _ result: Result<[DiscoveredService], Failure>
    ) {
        voidRequests(replacedBy: result)
        guard let service = content.withLock({ $0.database.service(in: range) }) else { return }
        let failure = keep(result) { $0.database.add($1, to: service, of: self) }
        delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: failure)
    }

    private func characteristicsDiscovered(
        in range: AttributeHandleRange,
        _ result: Result<[DiscoveredCharacteristic], Failure>
    ) {
        guard let service = content.withLock({ $0.database.service(in: range) }) else { return }
        if case .success(let found) = result, content.withLock({ $0.database.isAllThereIs(found, in: service) }) {
            delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: nil)
            return
        }
        voidRequests(replacedBy: result, in: service)
        let failure = keep(result) { $0.database.add($1, to: service) }
        delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: failure)
    }

    private func descriptorsDiscovered(of handle: AttributeHandle, _ result: Result<[DiscoveredDescriptor], Failure>) {
        guard let characteristic = characteristic(handle) else { return }
        let failure = keep(result) { $0.database.add($1, to: characteristic) }
        delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: failure)
    }

    private func valueRead(_ handle: AttributeHandle, _ result: Result<[UInt8], Failure>) {
        if let characteristic = characteristic(handle) {
            let failure = keep(result) { characteristic.setValue(octets: $1) }
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: failure)
        } else if let descriptor = descriptor(handle) {
            let failure = keep(result) { descriptor.setValue($1) }
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: failure)
        }
    }

    private func valueWritten(_ handle: AttributeHandle, _ failure: Failure?) {
        let failure = failure?.error(about: .attribute)
        if let characteristic = characteristic(handle) {
            delegate?.peripheral(self, didWriteValueFor: characteristic, error: failure)
        } else if let descriptor = descriptor(handle) {
            delegate?.peripheral(self, didWriteValueFor: descriptor, error: failure)
        }
    }

    private func writeCommandsTaken(_ count: Int) {
        switch content.withLock({ $0.window.taken(count) }) {
        // While the app's cancellation is under way there is room, but nowhere to send to.
        case .reopened where canSendWriteWithoutResponse:
            delegate?.peripheralIsReady(toSendWriteWithoutResponse: self)
        case .reopened, .nothing: break
        }
    }

    private func subscriptionChanged(_ handle: AttributeHandle, _ subscription: Subscription, _ failure: Failure?) {
        guard let characteristic = characteristic(handle) else { return }
        characteristic.subscription = subscription
        delegate?.peripheral(
            self,
            didUpdateNotificationStateFor: characteristic,
            error: failure?.error(about: .attribute)
        )
    }

    /// Tells the app of a value that it did not ask for; what waits for answers goes on waiting.
    func notified(_ handle: AttributeHandle, _ value: [UInt8]) {
        var delegate: (any CBPeripheralDelegate)?, isAsking = false
        let found = content.withLock { content -> CBCharacteristic? in
            guard content.link.acceptsAnswers, let object = content.database.characteristic(handle) else { return nil }
            delegate = content.delegate
            isAsking = content.requests.count > 0
            return object
        }
        guard let characteristic = found else { return }
        characteristic.setValue(octets: value)
        delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
        tellObservers(.valueNotified(handle, value))
        if isAsking { proceed() }
    }

    private func tellObservers(_ event: PeerEvent) {
        if !reference.observers.isEmpty { reference.observers.tell(.peer(peer, event)) }
    }

    private func characteristic(_ handle: AttributeHandle) -> CBCharacteristic? {
        content.withLock { $0.database.characteristic(handle) }
    }

    private func descriptor(_ handle: AttributeHandle) -> CBDescriptor? {
        content.withLock { $0.database.descriptor(handle) }
    }

    /// Keeps what was found, or returns why nothing was.
    private func keep<Found>(
        _ result: Result<Found, Failure>,
        _ body: (inout Content, Found) -> Void
    ) -> (any Error)? {
        switch result {
        case .success(let found):
            content.withLock { body(&$0, found) }
            return nil
        case .failure(let failure): return failure.error(about: .attribute)
        }
    }
}
