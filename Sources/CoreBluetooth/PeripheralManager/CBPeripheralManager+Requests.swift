import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheralManager {
    func beginAdvertising(_ data: [String: Any]) {
        if let excess = AdvertisingRequest.excess(data) {
            session.report("startAdvertising(_:): 28 bytes and 10 more for the name", excess)
        }
        guard let request = AdvertisingRequest(data, console: reference.console) else {
            return later {
                $0.delegate?.peripheralManagerDidStartAdvertising($0, error: CBError(.invalidParameters))
            }
        }
        beginAdvertising(request)
    }

    /// Requests advertising from the host; if the manager is already advertising, calls the delegate with an error
    /// instead, and returns `false`.
    ///
    /// `number` is a number from ``reserveAdvertisingNumber()``; `nil` to use the next one.
    @discardableResult
    func beginAdvertising(_ request: AdvertisingRequest, as number: Int? = nil) -> Bool {
        switch content.withLock({ $0.advertising.start(request, as: number) }) {
        case .send:
            session.send(.server(.startAdvertising(request)))
            return true
        case .alreadyAdvertising:
            later { $0.delegate?.peripheralManagerDidStartAdvertising($0, error: CBError(.alreadyAdvertising)) }
            return false
        }
    }

    func publish(_ service: CBMutableService) {
        guard service.published == nil else {
            reference.console.misuse("\(service) is already published")
            return refuse(service, .invalidParameters)
        }
        let snapshot = ServiceSnapshot(service)
        if let obstacle = snapshot.obstacle { return refuse(service, obstacle) }
        let definition = content.withLock { $0.services.publish(snapshot, by: reference) }
        session.send(.service(.addService(definition)))
    }

    func withdraw(_ service: CBMutableService) {
        switch content.withLock({ $0.services.withdraw(service) }) {
        case .send(let id): session.send(.service(.removeService(id)))
        case .inUse: reference.console.misuse("\(service) cannot be removed while other services include it")
        case .unknown: break
        }
    }

    func answer(_ request: CBATTRequest, _ result: CBATTError.Code) {
        guard request.exchange.receiver === reference else {
            return reference.console.misuse("\(request) was received by another manager")
        }
        guard request.exchange.answer() else {
            return reference.console.misuse("\(request) has already been responded to")
        }
        guard let transaction = request.exchange.transaction else { return }
        let response: ServerResponse =
            switch result {
            case .success: .success(request.value.map { [UInt8](octetsOf: $0) } ?? [])
            default: .failure(UInt8(exactly: result.rawValue).map(ATT.ErrorCode.init(wire:)) ?? .unlikelyError)
            }
        session.send(.service(.respond(transaction, response)))
    }

    func update(_ value: Data, for characteristic: CBMutableCharacteristic, _ centrals: [CBCentral]?) -> Bool {
        guard let id = characteristic.published?.id,
            content.withLock({ $0.services.characteristic(id) }) === characteristic
        else {
            reference.console.misuse("\(characteristic) is not published by this manager")
            return false
        }
        let subscribers = characteristic.subscribedCentrals ?? []
        let receivers = centrals.map { list in subscribers.filter { one in list.contains { $0.peer == one.peer } } }
        // No central receives the value, so there is nothing to send and nothing to wait for.
        guard !(receivers ?? subscribers).isEmpty else { return true }
        let hasRoom = content.withLock {
            guard $0.window.isOpen else {
                $0.window.refuse()
                return false
            }
            $0.window.submit()
            return true
        }
        guard hasRoom else { return false }
        let octets = [UInt8](octetsOf: value.prefix(ValueLength.longest))
        session.send(.service(.update(id, octets, to: receivers?.map(\.peer))))
        return true
    }

    /// Runs `body` on the manager's queue after everything that is already queued, unless the manager has been released
    /// by then.
    func later(_ body: @escaping @Sendable (CBPeripheralManager) -> Void) {
        reference.later { ($0 as? CBPeripheralManager).map(body) }
    }

    private func refuse(_ service: CBMutableService, _ failure: Failure) {
        let subject = LockedBox(service)
        later { $0.delegate?.peripheralManager($0, didAdd: subject.current, error: failure.error(about: .server)) }
    }
}

extension AdvertisingRequest {
    /// Returns a sentence about the part of an advertisement that Apple's systems would not send; `nil` if they would
    /// send everything.
    fileprivate static func excess(_ data: [String: Any]) -> String? {
        let honoured = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
        let ignored = data.keys.filter { !honoured.contains($0) }.sorted()
        if !ignored.isEmpty {
            let verb = ignored.count == 1 ? "is" : "are"
            return "\(ignored.joined(separator: ", ")) cannot be advertised and \(verb) ignored"
        }
        let name = (data[CBAdvertisementDataLocalNameKey] as? String)?.utf8.count ?? 0
        let services = (data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []).reduce(0) { $0 + $1.data.count }
        if services > 28 {
            return "service UUIDs of \(services) octets in all do not fit; the last ones are in the overflow area"
        }
        guard name > max(28 - services, 10) else { return nil }
        return "a name of \(name) octets does not fit and was truncated"
    }

    /// Reads an app's advertisement; returns `nil` if values have the wrong type.
    ///
    /// Unsupported keys are ignored with a warning.
    fileprivate init?(_ data: [String: Any], console: Console) {
        self.init()
        for (key, value) in data.sorted(by: { $0.key < $1.key }) {
            switch key {
            case CBAdvertisementDataLocalNameKey:
                guard let name = value as? String else { return nil }
                localName = name
            case CBAdvertisementDataServiceUUIDsKey:
                guard let uuids = value as? [CBUUID] else { return nil }
                services = uuids.map(\.value)
            default: console.warn("The advertisement data key \(key) is not allowed and is ignored")
            }
        }
    }
}

extension ConnectionLatency {
    /// Converts to the host's type; returns `nil` for an unknown latency.
    init?(_ latency: CBPeripheralManagerConnectionLatency) {
        switch latency {
        case .low: self = .low
        case .medium: self = .medium
        case .high: self = .high
        @unknown default: return nil
        }
    }
}
