import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheral {
    /// The longest value of an attribute, in octets: Core 6.0, Vol 3, Part F, 3.2.9.
    static let longestValue = 512

    /// Sends `request` if there is a connection, and says so if there is none.
    func request(_ request: PeerRequest) {
        if isReady() { submit(request) }
    }

    func discoverIncluded(_ types: [BluetoothUUID], in service: CBService) {
        guard isReady() else { return }
        if let range = service.range, owns(service) {
            submit(.discoverIncludedServices(in: range, only: types))
        } else {
            refuse(service) { $0.delegate?.peripheral($0, didDiscoverIncludedServicesFor: $1, error: $2) }
        }
    }

    func discoverValues(_ types: [BluetoothUUID], in service: CBService) {
        guard isReady() else { return }
        if let range = service.range, owns(service) {
            submit(.discoverCharacteristics(in: range, only: types))
        } else {
            refuse(service) { $0.delegate?.peripheral($0, didDiscoverCharacteristicsFor: $1, error: $2) }
        }
    }

    func discoverDescriptions(of characteristic: CBCharacteristic) {
        guard isReady() else { return }
        if let handles = characteristic.handles, owns(characteristic) {
            submit(.discoverDescriptors(of: handles.value, in: handles.descriptors))
        } else {
            refuse(characteristic) { $0.delegate?.peripheral($0, didDiscoverDescriptorsFor: $1, error: $2) }
        }
    }

    func read(_ characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return refuse(characteristic) { $0.delegate?.peripheral($0, didUpdateValueFor: $1, error: $2) }
        }
        let request = PeerRequest.read(handle)
        characteristic.properties.contains(.read) ? submit(request) : fail(request, .att(.readNotPermitted))
    }

    func write(_ data: Data, to characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return refuse(characteristic) { $0.delegate?.peripheral($0, didWriteValueFor: $1, error: $2) }
        }
        guard characteristic.properties.contains(.write) else {
            return fail(.write(handle, []), .att(.writeNotPermitted))
        }
        write(data, at: handle)
    }

    private func write(_ data: Data, at handle: AttributeHandle) {
        guard data.count <= Self.longestValue else {
            return fail(.write(handle, []), .att(.invalidAttributeValueLength))
        }
        submit(.write(handle, [UInt8](octetsOf: data)))
    }

    func writeCommand(_ data: Data, to characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return reference.console.misuse("\(characteristic) does not belong to \(self), or no longer")
        }
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            return reference.console.warn(
                "\(characteristic) does not have the property to be written without response: the value is dropped"
            )
        }
        guard data.count <= maximumWriteValueLength(for: .withoutResponse) else {
            session.report(
                "maximumWriteValueLength(for:)",
                "a value of \(data.count) octets without response is dropped"
            )
            return reference.console.warn(
                "A value of \(data.count) octets is too long to be written without response: it is dropped"
            )
        }
        let fits = content.withLock {
            guard $0.window.outstanding < Self.mostOutstanding else { return false }
            $0.window.submit()
            return true
        }
        guard fits else {
            return reference.console.warn(
                "\(self) takes no more values without response now: one is dropped; see canSendWriteWithoutResponse"
            )
        }
        submit(.writeCommand(handle, [UInt8](octetsOf: data)))
    }

    /// How many values without response an app may send although it was told that there is no room.
    private static let mostOutstanding = 1024

    func subscribe(_ enabled: Bool, to characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handles = characteristic.handles, owns(characteristic) else {
            return refuse(characteristic) { $0.delegate?.peripheral($0, didUpdateNotificationStateFor: $1, error: $2) }
        }
        let properties = characteristic.properties
        guard !properties.isDisjoint(with: [.notify, .indicate]) else {
            return fail(.subscribe(.none, to: handles.value, in: handles.descriptors), .att(.requestNotSupported))
        }
        let wanted: Subscription = !enabled ? .none : properties.contains(.notify) ? .notifications : .indications
        let request = PeerRequest.subscribe(wanted, to: handles.value, in: handles.descriptors)
        let isChanging = content.withLock { $0.requests.isChanging(handles.value) }
        guard isChanging || characteristic.isNotifying != enabled else {
            let event = PeerEvent.subscriptionChanged(handles.value, characteristic.subscription, nil)
            return answer(request) { $0.apply(event) }
        }
        submit(request)
    }

    func read(_ descriptor: CBDescriptor) {
        guard isReady() else { return }
        if let handle = descriptor.handle, owns(descriptor) {
            submit(.read(handle))
        } else {
            refuse(descriptor) { $0.delegate?.peripheral($0, didUpdateValueFor: $1, error: $2) }
        }
    }

    func write(_ data: Data, to descriptor: CBDescriptor) {
        if descriptor.uuid.value == .short(0x2902) {
            raise(
                "Client Characteristic Configuration descriptors must be configured using "
                    + "setNotifyValue:forCharacteristic:"
            )
        }
        guard isReady() else { return }
        guard let handle = descriptor.handle, owns(descriptor) else {
            return refuse(descriptor) { $0.delegate?.peripheral($0, didWriteValueFor: $1, error: $2) }
        }
        write(data, at: handle)
    }

    func openChannel(_ psm: CBL2CAPPSM) {
        guard isReady() else { return }
        // Core 6.0, Vol 3, Part A, 4.22.
        let request = PeerRequest.openChannel(SPSM(wire: psm))
        (0x0001...0x00FF).contains(psm) ? submit(request) : fail(request, .invalidParameters)
    }

    /// Answers through the delegate that something can not be done here at all.
    func refuse(_ tell: @escaping @Sendable (CBPeripheral, any Error) -> Void) {
        guard isReady() else { return }
        answer { tell($0, CBError(.operationNotSupported)) }
    }

    /// Answers through the delegate that `object` is not, or no longer, there.
    private func refuse<Object>(
        _ object: Object,
        _ tell: @escaping @Sendable (CBPeripheral, Object, any Error) -> Void
    ) {
        answer { tell($0, object, CBError(.invalidHandle)) }
    }

    /// Sends `request` when its turn has come.
    ///
    /// It leaves while the queue is locked, so that requests of several threads leave in its order.
    private func submit(_ request: PeerRequest) {
        content.withLock { content in
            if let number = content.requests.submit(request) { session.send(.peer(peer, request, number)) }
        }
    }

    /// Answers in the place of the peripheral that nothing comes of `request`.
    private func fail(_ request: PeerRequest, _ failure: Failure) {
        answer(request) { $0.apply(request.answer(failure)) }
    }

    /// Answers in the place of the peripheral, when the turn of `request` has come and never before this returns.
    private func answer(_ request: PeerRequest? = nil, with answer: @escaping (CBPeripheral) -> Void) {
        content.withLock { $0.requests.submit(request, answer: answer) }
        let subject = Guarded(self)
        reference.later { _ in subject.current.proceed() }
    }

    private func isReady() -> Bool {
        if content.withLock({ $0.link.acceptsRequests }) { return true }
        reference.console.misuse("\(self) can only accept commands while in the connected state")
        return false
    }

    func owns(_ service: CBService) -> Bool {
        content.withLock { content in service.range.flatMap { content.database.service(in: $0) } } === service
    }

    func owns(_ characteristic: CBCharacteristic) -> Bool {
        content.withLock { content in
            characteristic.handles.flatMap { content.database.characteristic($0.value) }
        } === characteristic
    }

    func owns(_ descriptor: CBDescriptor) -> Bool {
        content.withLock { content in
            descriptor.handle.flatMap { content.database.descriptor($0) }
        } === descriptor
    }
}
