import BLEHost
import BLERuntime
import BLEWire
import Foundation

extension CBPeripheral {
    /// Sends `request` if the peripheral is connected; otherwise logs a misuse.
    func request(_ request: PeerRequest) {
        if isReady() { submit(request) }
    }

    func discoverIncluded(_ types: [BluetoothUUID], in service: CBService) {
        guard isReady() else { return }
        if let range = service.range, owns(service) {
            submit(.discoverIncludedServices(in: range, only: types))
        } else {
            refuse(.includedServicesDiscovered(service, .notFound))
        }
    }

    func discoverValues(_ types: [BluetoothUUID], in service: CBService) {
        guard isReady() else { return }
        if let range = service.range, owns(service) {
            submit(.discoverCharacteristics(in: range, only: types))
        } else {
            refuse(.characteristicsDiscovered(service, .notFound))
        }
    }

    func discoverDescriptions(of characteristic: CBCharacteristic) {
        guard isReady() else { return }
        if let handles = characteristic.handles, owns(characteristic) {
            submit(.discoverDescriptors(of: handles.value, in: handles.descriptors))
        } else {
            refuse(.descriptorsDiscovered(characteristic, .notFound))
        }
    }

    func read(_ characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return refuse(.valueRead(characteristic, .failure(.notFound)))
        }
        let request = PeerRequest.read(handle)
        characteristic.properties.contains(.read) ? submit(request) : fail(request, .att(.readNotPermitted))
    }

    func write(_ data: Data, to characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return refuse(.valueWritten(characteristic, .notFound))
        }
        guard characteristic.properties.contains(.write) else {
            return fail(.write(handle, []), .att(.writeNotPermitted))
        }
        write(data, at: handle)
    }

    private func write(_ data: Data, at handle: AttributeHandle) {
        guard data.count <= ValueLength.longest else {
            return fail(.write(handle, []), .att(.invalidAttributeValueLength))
        }
        submit(.write(handle, [UInt8](octetsOf: data)))
    }

    func writeCommand(_ data: Data, to characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return reference.console.misuse("\(characteristic) does not belong to \(self), or no longer does")
        }
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            return reference.console.warn(
                "\(characteristic) does not have the property writeWithoutResponse; the value was dropped"
            )
        }
        guard data.count <= longestCommandValue else {
            session.report(
                "maximumWriteValueLength(for:)",
                "a write without response of \(data.count) octets was dropped: at most \(longestCommandValue) fit"
            )
            return reference.console.warn(
                "A write without response of \(data.count) octets was dropped: at most \(longestCommandValue) fit"
            )
        }
        let fits = record.withLock {
            guard $0.window.outstanding < Self.mostOutstanding else { return false }
            $0.window.submit()
            return true
        }
        guard fits else {
            return reference.console.warn(
                """
                \(self) cannot accept more writes without response; one was dropped. Wait until \
                canSendWriteWithoutResponse is true
                """
            )
        }
        submit(.writeCommand(handle, [UInt8](octetsOf: data)))
    }

    /// The maximum number of values that wait to be written without response.
    ///
    /// An app reaches this limit only if it ignores that ``canSendWriteWithoutResponse`` is `false`. Further values are
    /// dropped.
    private static let mostOutstanding = 1024

    func subscribe(_ enabled: Bool, to characteristic: CBCharacteristic) {
        guard isReady() else { return }
        guard let handles = characteristic.handles, owns(characteristic) else {
            return refuse(.subscriptionChanged(characteristic, nil, .notFound))
        }
        let properties = characteristic.properties
        guard !properties.isDisjoint(with: [.notify, .indicate]) else {
            return fail(.subscribe(.none, to: handles.value, in: handles.descriptors), .att(.requestNotSupported))
        }
        let wanted: Subscription = !enabled ? .none : properties.contains(.notify) ? .notifications : .indications
        let request = PeerRequest.subscribe(wanted, to: handles.value, in: handles.descriptors)
        let isChanging = record.withLock { $0.requests.isChanging(handles.value) }
        guard isChanging || characteristic.isNotifying != enabled else {
            let event = PeerEvent.subscriptionChanged(handles.value, characteristic.subscription, nil)
            return answer(request, .event(event))
        }
        submit(request)
    }

    func read(_ descriptor: CBDescriptor) {
        guard isReady() else { return }
        if let handle = descriptor.handle, owns(descriptor) {
            submit(.read(handle))
        } else {
            refuse(.descriptorRead(descriptor, .failure(.notFound)))
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
            return refuse(.descriptorWritten(descriptor, .notFound))
        }
        write(data, at: handle)
    }

    func openChannel(_ psm: CBL2CAPPSM) {
        guard isReady() else { return }
        // Core 6.0, Vol 3, Part A, 4.22.
        let request = PeerRequest.openChannel(SPSM(wire: psm))
        (0x0001...0x00FF).contains(psm) ? submit(request) : fail(request, .invalidParameters)
    }

    /// Calls the delegate to report that distance measurement is not supported.
    func refuseSounding() {
        if isReady() { refuse(.soundingCompleted(.notSupported)) }
    }

    /// Reports a failed request to the delegate, after the results of earlier requests.
    private func refuse(_ call: PeripheralDelegateCall) { answer(nil, .call(call)) }

    /// Queues `request`, and sends it as soon as its turn comes.
    ///
    /// Requests are sent while the queue is locked, so that requests from several threads are sent in the order of the
    /// queue.
    private func submit(_ request: PeerRequest) {
        record.withLock { record in
            if let number = record.requests.submit(request) { session.send(.peer(peer, request, number)) }
        }
    }

    /// Fails `request` without asking the peripheral.
    private func fail(_ request: PeerRequest, _ failure: Failure) {
        answer(request, .event(request.answer(failure)))
    }

    /// Gives a request its result without asking the peripheral.
    ///
    /// The result is delivered after those of earlier requests, and never before this method returns.
    ///
    /// `request` is `nil` if the app's call was refused before it became a request to the host.
    private func answer(_ request: PeerRequest?, _ answer: PeripheralRequests.Answer) {
        record.withLock { $0.requests.submit(request, answer: answer) }
        let subject = LockedBox(self)
        reference.later { _ in subject.current.proceed() }
    }

    private func isReady() -> Bool {
        if record.withLock({ $0.acceptsRequests }) { return true }
        reference.console.misuse("\(self) can only accept commands while in the connected state")
        return false
    }

    func owns(_ service: CBService) -> Bool {
        record.withLock { record in service.range.flatMap { record.database.service(in: $0) } } === service
    }

    func owns(_ characteristic: CBCharacteristic) -> Bool {
        record.withLock { record in
            characteristic.handles.flatMap { record.database.characteristic($0.value) }
        } === characteristic
    }

    func owns(_ descriptor: CBDescriptor) -> Bool {
        record.withLock { record in
            descriptor.handle.flatMap { record.database.descriptor($0) }
        } === descriptor
    }
}
